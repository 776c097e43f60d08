"""What the doctor says of settings, good and broken."""

from __future__ import annotations

import pytest

from app.doctor.configuration import read_settings
from app.doctor.findings import Sign
from tests.support.folders import as_somebody_else


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KIBITZ_CONFIG", raising=False)
    return tmp_path


def found(environment=None, **given):
    settings, findings = read_settings(given, environment or {})
    return settings, [(each.sign, each.case, each.advice) for each in findings]


def test_without_any(folder):
    settings, findings = found()
    assert settings is not None
    case = "there is no kibitz.toml, so everything is as it comes"
    assert findings == [(Sign.OK, case, "")]


def test_where_they_are_from(folder):
    (folder / "kibitz.toml").write_text('port = 9000\nhost = "::1"\n')
    settings, findings = found({"KIBITZ_PORT": "9001", "kibitz_host": "x", "KIBITZ_MODEL": ""})
    assert settings.port == 9000
    case = (
        f"{folder / 'kibitz.toml'} sets host, port; the environment sets KIBITZ_PORT, kibitz_host"
    )
    assert findings == [(Sign.OK, case, "")]
    (folder / "kibitz.toml").write_text("")
    assert found()[1][0][1] == f"{folder / 'kibitz.toml'} sets nothing"


def test_what_is_given_wins(folder):
    settings, _ = found(port=9002)
    assert settings.port == 9002


@pytest.mark.parametrize(
    ("text", "case", "advice"),
    [
        ("prot = 1", "kibitz.toml sets 'prot', which is no setting", "did you mean port?"),
        ("KIBITZ_PORT = 1", "kibitz.toml sets 'KIBITZ_PORT', which is no setting",
         "did you mean port?"),
        ("zzz = 1", "kibitz.toml sets 'zzz', which is no setting",
         "take it away; docs/reference/settings.md has all settings"),
        ('[engines.a]\ncomand = "x"',
         "kibitz.toml sets 'comand' in [engines.a], which is no setting",
         "did you mean command?"),
        ('[providers.a]\nurl = "x"',
         "kibitz.toml sets 'url' in [providers.a], which is no setting",
         "take it away; there are base_url, api_key_env, requests_per_minute, form, "
         "connect_timeout"),
        ('[prices."a/b"]\noutputs = 1',
         "kibitz.toml sets 'outputs' in [prices.a/b], which is no setting",
         "did you mean output?"),
        ("port = 'x'", "the setting port is wrong: Input should be a valid integer, "
         "unable to parse string as an integer",
         "mend kibitz.toml or the variable; docs/reference/settings.md has all settings"),
        ("port = ", "kibitz.toml is not TOML: Invalid value (at end of document)",
         "mend kibitz.toml or the variable; docs/reference/settings.md has all settings"),
        ("engines = 3", "the setting engines is wrong: Input should be a valid dictionary",
         "mend kibitz.toml or the variable; docs/reference/settings.md has all settings"),
    ],
)  # fmt: skip
def test_a_broken_file(folder, text, case, advice):
    (folder / "kibitz.toml").write_text(text)
    settings, findings = found()
    assert settings is None
    assert findings == [(Sign.FAIL, case, advice)]


def test_all_strange_names_are_told(folder):
    (folder / "kibitz.toml").write_text("prot = 1\nhots = 2\n[engines]\nx = 3\n")
    settings, findings = found({"KIBITZ_MODLE": "x", "KIBITZ_WHAT_IS_THIS": "y"})
    assert settings is None
    assert [advice for *_, advice in findings] == [
        "did you mean port?",
        "did you mean host?",
        "did you mean KIBITZ_MODEL?",
        "unset it; docs/reference/settings.md has all settings",
    ]


def test_a_strange_variable_is_a_warning(folder):
    variables = {
        "KIBITZ_PROT": "1",
        "KIBITZ_HOTS": "",
        "KIBITZ_CHROMIUM": "/x",
        "KIBITZ_CONFIG": "y",
    }
    settings, findings = found(variables)
    assert settings is not None
    expected = (Sign.WARN, "the variable KIBITZ_PROT is no setting", "did you mean KIBITZ_PORT?")
    assert findings[1:] == [expected]


@pytest.mark.parametrize("name", ["mine.toml", "."])
def test_a_file_that_is_not_there(monkeypatch, name):
    monkeypatch.setenv("KIBITZ_CONFIG", name)
    settings, findings = found()
    assert settings is None
    case = f"KIBITZ_CONFIG names {name}, which is no file"
    assert findings == [(Sign.FAIL, case, "let KIBITZ_CONFIG name a file, or unset it")]


def test_a_file_in_a_folder_of_somebody_else(folder, monkeypatch):
    (folder / "locked").mkdir(mode=0)
    monkeypatch.setenv("KIBITZ_CONFIG", str(folder / "locked" / "mine.toml"))
    with as_somebody_else():
        settings, [(sign, case, _)] = found()
    assert settings is None
    assert sign is Sign.FAIL
    assert case == f"{folder / 'locked' / 'mine.toml'} cannot be read: Permission denied"


def test_a_file_that_is_no_text(folder):
    (folder / "kibitz.toml").write_bytes(b"\xff\xfe")
    _, [(sign, case, _)] = found()
    assert (sign, case) == (Sign.FAIL, "kibitz.toml is not text")


@pytest.mark.parametrize(("mode", "signs"), [(0o644, "ok warn"), (0o600, "ok"), (0o640, "ok warn")])
def test_secrets_that_others_can_read(folder, mode, signs):
    file = folder / "kibitz.toml"
    file.write_text('api_tokens = ["read:abcdefgh"]\ndatabase = "sqlite:///x.db"')
    file.chmod(mode)
    _, findings = found()
    assert " ".join(sign for sign, *_ in findings) == signs
    if "warn" in signs:
        case = "others on this machine can read kibitz.toml, which sets api_tokens and database"
        assert findings[1][1:] == (case, "chmod 600 kibitz.toml")
    file.write_text("port = 1")
    file.chmod(0o644)
    assert len(found()[1]) == 1
