#!/usr/bin/env bash
# Runs a program for Windows in Wine: wine.sh PROGRAM [ARGUMENT...]
#
# Wine before 9.0, as Debian 12 has it, lacks a library that every Rust program needs for random numbers. One with that function alone
# takes its place, made by MinGW.
set -euo pipefail

folder="${TMPDIR:-/tmp}/skillfold-wine-$(id -u)"
mkdir -m 700 "$folder" 2>/dev/null || true
if [ ! -O "$folder" ]; then
    echo "error: $folder belongs to somebody else" >&2
    exit 1
fi
# A home of its own, made once: that takes Wine a while.
export WINEPREFIX="$folder/home" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
if [ ! -d "$WINEPREFIX" ]; then wineboot --init >/dev/null 2>&1; fi
if [ ! -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
    cat >"$folder/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T size) { return SystemFunction036(bytes, (ULONG)size); }
C
    x86_64-w64-mingw32-gcc -shared -O1 -s -o "$folder/random.dll" "$folder/random.c" -ladvapi32
    mv "$folder/random.dll" "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
fi
exec wine "$@"
