"""The facilitator's pages: what they say of notebooks, and of a cluster."""

import re

import pytest
import yaml
from conftest import ROOT, listed_in_readme

FACILITATORS_PAGE = (ROOT / "workshop/README.md").read_text()
VALUES = yaml.safe_load((ROOT / "workshop/z2jh/values.yaml").read_text())


def numbers(keras: str) -> list[str]:
    """The notebooks that need Keras ("yes"), or do not ("no")."""
    return [row[1][:2] for row in listed_in_readme() if row[3] == keras]


@pytest.mark.parametrize(
    ("file", "minutes"), [row[1:3] for row in listed_in_readme()]
)
def test_the_page_has_the_minutes_of_the_notebook(file, minutes):
    row = rf"^\| {file[:2]}\b.*?\| {minutes} \|"
    found = re.search(row, FACILITATORS_PAGE, re.MULTILINE)
    assert found, f"workshop/README.md: {file[:2]}, {minutes} minutes"


def test_sizes_are_for_the_notebooks_they_name():
    head = re.search(r"^\| learners \| NumPy.*$", FACILITATORS_PAGE, re.M)[0]
    numpy, keras = (re.findall(r"\d\d", part) for part in head.split("|")[2:4])
    assert (numpy, keras) == (numbers("no"), numbers("yes")), (
        "workshop/README.md, table of sizes"
    )


def test_a_cluster_lets_in_who_knows_the_password():
    hub = VALUES["hub"]["config"]
    assert hub["JupyterHub"]["authenticator_class"] == "shared-password"
    assert hub["Authenticator"]["admin_users"] == ["teacher"]


def test_a_cluster_has_a_profile_for_numpy_and_one_for_keras():
    numpy, keras = VALUES["singleuser"]["profileList"]
    for profile, wanted in ((numpy, "no"), (keras, "yes")):
        named = re.findall(r"\d\d", profile["display_name"])
        assert named == numbers(wanted), "workshop/z2jh/values.yaml"
        sizes = profile["kubespawner_override"]
        least, most = sizes["mem_guarantee"], sizes["mem_limit"]
        assert megabytes(least) < megabytes(most)


def megabytes(size: str) -> float:
    return float(size[:-1]) * {"M": 1, "G": 1000}[size[-1]]
