# Sourced by scripts/demo and scripts/test, in the checkout's root: makes .venv with the pinned packages,
# only when it is missing, or scripts/constraints.txt or this file has changed. Prints what it does, one line a step.

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

find_python() {
    local candidate
    for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail "no Python 3.11 or newer found; install it (Debian: apt-get install python3 python3-venv) or set PYTHON"
}

# Debian ships Python without what makes an environment; as root its package can simply be added.
ensure_venv_module() {
    "$1" -c 'import ensurepip' 2>/dev/null && return
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "installing python3-venv (Debian package)"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq python3-venv >/dev/null 2>&1 ||
        { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq python3-venv >/dev/null 2>&1; } ||
        fail "apt-get could not install python3-venv; $INSTALL_VENV"
}

INSTALL_VENV="install it (Debian, as root: apt-get install python3-venv) or set PYTHON"

# An ordinary user: an environment without pip, and pip from Debian's package, unpacked below var and not installed.
create_without_ensurepip() {
    local root
    echo "downloading pip (Debian package python3-pip-whl) into var/packages"
    root=$("$1" scripts/local_services/debian_packages.py var/packages/pip python3-pip-whl 2>var/log/environment.log) &&
        "$1" -m venv --clear --without-pip .venv 2>>var/log/environment.log &&
        PYTHONPATH=$(echo "$root"/usr/share/python-wheels/pip-*.whl) .venv/bin/python -m pip install --quiet \
            --no-index --no-deps "$root"/usr/share/python-wheels/pip-*.whl >>var/log/environment.log 2>&1 ||
        fail "cannot make .venv without python3-venv ($(tail -n 1 var/log/environment.log)); $INSTALL_VENV"
}

# `matchfeed` without a build or a network: checkout and client on the path, and a launcher beside python.
link_checkout() {
    local packages
    packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    printf '%s\n' "$PWD" "$PWD/scripts/client" >"$packages/matchfeed.pth"
    {
        echo "#!$PWD/.venv/bin/python"
        echo "from app.cli import main"
        echo
        echo 'main(prog_name="matchfeed")'
    } >.venv/bin/matchfeed
    chmod +x .venv/bin/matchfeed
}

create() {
    local python
    [ ! -L .venv ] || fail ".venv is a link: what it leads to would be emptied; remove the link"
    python=$(find_python)
    echo "making .venv ($("$python" --version))"
    if ensure_venv_module "$python"; then
        "$python" -m venv --clear .venv 2>var/log/environment.log ||
            fail "cannot make .venv: $(tail -n 1 var/log/environment.log)"
    else
        create_without_ensurepip "$python"
    fi
}

install_packages() {
    echo "installing $(grep -c '==' scripts/constraints.txt) pinned packages into .venv (about a minute)"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-compile \
        --require-hashes -r scripts/constraints.txt >var/log/environment.log 2>&1 ||
        fail "pip could not install the packages: $(grep -v WARNING var/log/environment.log | tail -n 1) (all of it in var/log/environment.log)"
    # On all cores; pip would do it on one.
    .venv/bin/python -m compileall -q -j 0 .venv/lib >>var/log/environment.log 2>&1 ||
        echo "some modules of the packages do not compile, and cannot be imported (see var/log/environment.log)"
}

make_environment() {
    { mkdir -p var/log && [ -w var ] && [ -w var/log ]; } 2>/dev/null ||
        fail "cannot write to $PWD/var; run as the one who owns it, or remove it"
    exec 9>var/environment.lock
    flock 9
    local wanted
    wanted="$(cat scripts/constraints.txt scripts/environment.sh | cksum) $PWD"
    if [ "$(cat .venv/installed 2>/dev/null)" != "$wanted" ] || ! .venv/bin/python -c '' 2>/dev/null; then
        # A checkout that was moved or copied has an environment that points elsewhere.
        [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)' 2>/dev/null)" = "$PWD/.venv" ] &&
            grep -qx "#!$PWD/.venv/bin/python.*" .venv/bin/pip 2>/dev/null || create
        install_packages
        link_checkout
        echo "$wanted" >.venv/installed
    fi
    exec 9>&-
}
