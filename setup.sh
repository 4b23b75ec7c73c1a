#!/bin/sh
# Makes .venv with ccodegen in it, and installs the C compilers that it needs.
#   ./setup.sh         the core: a C compiler, make, Python packages
#   ./setup.sh test    what the tests need too: clang, cross compilers, emulators, JAX
# System packages come by apt, where there is apt and the right to use it; elsewhere it says what
# is missing and goes on. Nothing that is there already is installed again.
set -eu
cd "$(dirname "$0")"
what=${1:-core}

# A command to look for, and the packages that bring it.
core='gcc:gcc,libc6-dev make:make'
test="$core clang:clang cmake:cmake g++:g++
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu,libc6-dev-arm64-cross qemu-aarch64:qemu-user
arm-none-eabi-gcc:gcc-arm-none-eabi,libnewlib-arm-none-eabi qemu-system-arm:qemu-system-arm"
case $what in
core) wanted=$core extras= ;;
test) wanted=$test extras='[proto,jax,test]' ;;
*) echo "usage: $0 [core|test]" >&2; exit 2 ;;
esac

missing=
for entry in $wanted; do
    command -v "${entry%%:*}" >/dev/null || missing="$missing $(echo "${entry#*:}" | tr , ' ')"
done
if [ "$what" = test ]; then  # clang's sanitizers are a package of their own
    echo 'int main(void) { return 0; }' | clang -fsanitize=address -x c - -o /dev/null 2>/dev/null ||
        missing="$missing libclang-rt-dev"
fi
python=python3
for name in python3.11 python3.12 python3.13; do
    command -v $name >/dev/null && python=$name && break
done
$python -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"

if [ -n "$missing" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo='sudo -n'
    if command -v apt-get >/dev/null && $sudo true 2>/dev/null; then
        $sudo apt-get -o DPkg::Lock::Timeout=600 -qq update
        # shellcheck disable=SC2086  # a list of words
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq -y \
            install --no-install-recommends $missing >/dev/null
    else
        echo "please install:$missing" >&2
    fi
fi

$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo 'ccodegen needs Python 3.11 or later' >&2
    exit 1
}
[ -x .venv/bin/pip ] || $python -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -e ".$extras"
# The checkout's own modules are not compiled by pip, nor by Python where that is told to write none.
.venv/bin/python -m compileall -q ccodegen
