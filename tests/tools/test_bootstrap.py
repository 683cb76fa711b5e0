"""tools/bootstrap on machines that lack things, played by a PATH of stand-ins."""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOTSTRAP = ROOT / "tools/bootstrap"
UNIX = ("sh", "sed", "tr", "grep", "sort", "cut", "env", "chmod", "rm")
PROGRAMS = ("gcc", "meson", "ninja", "git", "clang-format", "llvm-symbolizer", "node", "npm", "jq",
            "strace", "zstd", "openssl", "zsh", "fish", "mandoc", "xmllint", "g++", "python3", "chromium", "mvn", "javac")


@pytest.fixture
def fake_system(tmp_path):
    """A bin folder with everything but what a test takes away, on a Debian run by root."""
    for name in UNIX:
        (tmp_path / name).symlink_to(shutil.which(name))
    for name in PROGRAMS:
        script(tmp_path, name, "exit 0")
    script(tmp_path, "id", "echo 0")
    script(tmp_path, "uname", '[ "$1" ] && echo x86_64 || echo Linux')
    script(tmp_path, "pkg-config", f'[ ! -e {tmp_path}/lacks-$2 ]')
    script(tmp_path, "clang", f"""case $1 in
-print-file-name=*) [ -e {tmp_path}/no-runtime ] && echo none || echo {tmp_path}/clang ;;
-print-runtime-dir) echo {tmp_path} ;;
-dumpversion) echo 14.0.6 ;;
esac""")
    script(tmp_path, "apt-cache", f'[ ! -e {tmp_path}/stale ]')
    # Installing gives a program, a library, or clang's runtime; as told in `brings`.
    script(tmp_path, "apt-get", f"""echo "$*" >>{tmp_path}/apt.log
case $1 in
update) rm -f {tmp_path}/stale ;;
install) . {tmp_path}/brings ;;
esac""")
    (tmp_path / "brings").write_text("")
    return tmp_path


def script(fake_system, name, body):
    (fake_system / name).write_text(f"#!/bin/sh\n{body}\n")
    (fake_system / name).chmod(0o755)


def run(fake_system, group="build", **env):
    p = subprocess.run([BOOTSTRAP, group], env={"PATH": str(fake_system), **env}, text=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       timeout=30)
    assert p.stdout == ""
    log = fake_system / "apt.log"
    return p.returncode, p.stderr, log.read_text().splitlines() if log.exists() else []


@pytest.mark.parametrize("group", ["build", "test", "interop", "bench"])
def test_with_nothing_missing_nothing_is_printed(fake_system, group):
    assert run(fake_system, group) == (0, "", [])


def test_a_group_installs_only_its_own_packages(fake_system):
    for name in ("clang", "node"):
        (fake_system / name).unlink()
    (fake_system / "lacks-cmocka").touch()
    assert run(fake_system, "build") == (0, "", [])


def test_a_browser_is_needed_only_for_interop(fake_system):
    (fake_system / "chromium").unlink()
    assert run(fake_system, "test") == (0, "", [])
    (fake_system / "brings").write_text(f"printf '' >{fake_system}/chromium; chmod +x {fake_system}/chromium")
    assert run(fake_system, "interop") == (0, "bootstrap: installing chromium\n", ["install -y --no-install-recommends chromium"])
    (fake_system / "chromium").rename(fake_system / "google-chrome")
    assert run(fake_system, "interop")[:2] == (0, "")


def test_only_missing_packages_are_installed(fake_system):
    (fake_system / "meson").unlink()
    (fake_system / "lacks-libuv").touch()
    (fake_system / "brings").write_text(f"rm {fake_system}/lacks-libuv; printf '' >{fake_system}/meson; "
                                    f"chmod +x {fake_system}/meson")
    code, said, apt = run(fake_system)
    assert (code, said) == (0, "bootstrap: installing libuv1-dev meson\n")
    assert apt == ["install -y --no-install-recommends libuv1-dev meson"]


def test_package_lists_are_updated_if_a_package_is_unknown(fake_system):
    (fake_system / "lacks-libuv").touch()
    (fake_system / "stale").touch()
    (fake_system / "brings").write_text(f"rm {fake_system}/lacks-libuv")
    assert run(fake_system)[2] == ["update", "install -y --no-install-recommends libuv1-dev"]


def test_a_failed_installation_is_repeated_once_with_new_lists(fake_system):
    (fake_system / "lacks-libuv").touch()
    (fake_system / "brings").write_text("exit 100")
    code, said, apt = run(fake_system)
    install = "install -y --no-install-recommends libuv1-dev"
    assert code == 1 and "apt-get failed" in said
    assert apt == [install, "update", install]


def test_the_sanitizers_come_from_the_package_of_the_installed_clang(fake_system):
    (fake_system / "no-runtime").touch()
    (fake_system / "brings").write_text(f"rm {fake_system}/no-runtime")
    code, _, apt = run(fake_system, "test")
    assert (code, apt) == (0, ["install -y --no-install-recommends libclang-rt-14-dev"])


def test_an_installation_without_effect_is_a_failure(fake_system):
    (fake_system / "lacks-libuv").touch()
    code, said, _ = run(fake_system)
    assert code == 1 and "Still missing after apt-get" in said


@pytest.mark.parametrize("prepare, env", [
    (lambda m: (m / "apt-get").unlink(), {}),
    (lambda m: script(m, "id", "echo 1000"), {}),
    (lambda m: None, {"MCPREEL_NO_INSTALL": "1"}),
], ids=["no apt-get", "neither root nor sudo", "told not to"])
def test_on_other_systems_missing_packages_are_printed(fake_system, prepare, env):
    (fake_system / "lacks-libxxhash").touch()
    (fake_system / "ninja").unlink()
    prepare(fake_system)
    code, said, apt = run(fake_system, "build", **env)
    assert code == 1 and apt == []
    assert "Debian, Ubuntu: libxxhash-dev ninja-build" in said
    assert "Fedora:         ninja-build xxhash-devel" in said
    assert "Homebrew:       ninja xxhash" in said


def test_sudo_is_used_by_other_users_than_root(fake_system):
    script(fake_system, "id", "echo 1000")
    script(fake_system, "sudo", f'echo "sudo $1" >>{fake_system}/apt.log; [ "$1" = -n ] && shift; exec "$@"')
    (fake_system / "lacks-libuv").touch()
    (fake_system / "brings").write_text(f"rm {fake_system}/lacks-libuv")
    code, _, apt = run(fake_system)
    assert code == 0 and apt[0] == "sudo -n"


def test_an_unknown_group_is_rejected(fake_system):
    assert run(fake_system, "everything")[0] == 2
