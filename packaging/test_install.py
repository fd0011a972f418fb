#!/usr/bin/env python3
"""Shows what the install script writes, replaces and removes, with each shell, and what it refuses.

    python3 packaging/test_install.py

Needs openssl, curl, wget, dash and busybox. test_tampering.py has the releases that it must not install.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

from made_up_release import HERE, NOBODY, TARGETS, Member, Release, World, openssl, program, tree

FILES = """\
bin/skillfold
share/bash-completion/completions/skillfold
share/fish/vendor_completions.d/skillfold.fish
share/man/man1/skillfold-list.1
share/man/man1/skillfold-setup.1
share/man/man1/skillfold.1
share/skillfold/LICENSE-APACHE
share/skillfold/LICENSE-MIT
share/skillfold/installed.txt
share/zsh/site-functions/_skillfold
""".split()
FOREIGN = "#!/bin/sh\necho foreign\n"
# Runs a command with a folder in the place of another, as root of a namespace of its own.
BIND = '/bin/mount --bind "$1" "$2" && shift 2 && exec "$@"'
# With a small file system that has what another folder has; then says what is there.
SMALL = """\
size="$1" place="$2" old="$3"
shift 3
/bin/mount -t tmpfs -o "size=$size" tmpfs "$place" && /bin/cp -r "$old/." "$place" || exit 99
"$@"
code=$?
echo "program: $("$place/bin/skillfold")"
echo "files: $(cd "$place" && /usr/bin/find . -type f | /usr/bin/wc -l)"
exit $code
"""


def in_namespace(script, *words):
    return (shutil.which("unshare"), "--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, "sh", *map(str, words))


def has_namespaces():
    as_user = {"user": NOBODY, "group": NOBODY} if os.getuid() == 0 else {}
    return subprocess.run(in_namespace("mount -t tmpfs t /mnt"), capture_output=True, **as_user).returncode == 0


NAMESPACES = has_namespaces()


class Case(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.addCleanup(self.world.close)
        self.new = self.world.version
        self.add("new", Release(self.new, self.world.key))
        self.home = self.world.home()
        self.local = self.home / ".local"

    def add(self, folder, release):
        self.world.server.folders[folder] = release.files

    def add_old(self):
        """Installs a release before this one, with a manual page that the new one has no more."""
        old = Release("0.0.1", self.world.key)
        old.repack(lambda listed: listed.insert(4, Member(f"{listed[0].name}/man/skillfold-gone.1")))
        self.add("old", old)
        self.installs(self.home, "old", script=self.world.script_of("0.0.1"))

    def installs(self, *arguments, **options):
        done = self.world.run(*arguments, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def refuses(self, why, *arguments, code=1, **options):
        done = self.world.run(*arguments, **options)
        self.assertIn(why, done.stderr)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def files(self, prefix=None):
        return [name for name, mode in tree(prefix or self.local).items() if not mode.startswith("d")]

    def runs(self, prefix=None):
        """Returns what the installed program prints."""
        return subprocess.run([(prefix or self.local) / "bin/skillfold"], check=True, capture_output=True, text=True).stdout.strip()


class Install(Case):
    def test_each_shell_installs_and_removes(self):
        for shell in self.world.shells:
            with self.subTest(shell):
                home = self.world.home()
                output = self.installs(home, "new", shell=shell)
                self.assertEqual(self.files(home / ".local"), FILES)
                self.assertEqual(self.runs(home / ".local"), f"skillfold {self.new}")
                for name in FILES:
                    self.assertTrue(str(home / ".local" / name) in output or str((home / ".local" / name).parent) + ": " in output, name)
                # Once more changes nothing.
                before = tree(home)
                self.installs(home, "new", shell=shell)
                self.assertEqual(tree(home), before)
                output = self.installs(home, "new", "--uninstall", shell=shell)
                self.assertIn("skillfold setup --undo", output)
                self.assertIn("~/.config/skillfold", output)
                self.assertEqual(tree(home), {"tmp": "d 755"})

    def test_receipt_lists_what_was_written(self):
        self.installs(self.home, "new")
        lines = (self.local / "share/skillfold/installed.txt").read_text().splitlines()
        self.assertEqual(lines[1:3], [f"version {self.new}", f"prefix {self.local}"])
        self.assertEqual([it[5:] for it in lines if it.startswith("file ")], [it for it in FILES if "installed.txt" not in it])
        folders = [name for name, mode in tree(self.local).items() if mode.startswith("d")]
        self.assertEqual([it[7:] for it in lines if it.startswith("folder ")], sorted([".", *folders]))

    @unittest.skipUnless(NAMESPACES, "no user namespaces")
    def test_root_installs_in_usr_local_unasked(self):
        for shell in self.world.shells:
            with self.subTest(shell):
                home, place = self.world.home(), self.world.home()
                before = in_namespace(BIND, place, "/usr/local")
                output = self.installs(home, "new", shell=shell, before=before)
                self.assertIn("/usr/local/bin/skillfold", output)
                self.assertEqual(self.files(place), FILES)
                self.installs(home, "new", "--uninstall", shell=shell, before=before)
                self.assertEqual((tree(place), tree(home)), ({"tmp": "d 755"}, {"tmp": "d 755"}))

    def test_receipt_needs_no_folder_of_its_own(self):
        self.installs(self.home, "new")
        self.installs(self.home, "new", "--uninstall")
        folders = {str(pathlib.PurePath(name).parent) for name in FILES}
        for folder in folders:
            (self.local / folder).mkdir(parents=True)
        self.give(self.home)
        before = tree(self.home)
        self.installs(self.home, "new")
        self.installs(self.home, "new")
        self.installs(self.home, "new", "--uninstall")
        self.assertEqual(tree(self.home), before)

    def test_modes_do_not_depend_on_the_umask(self):
        for mask in (0o077, 0o000, 0o777):
            home = self.world.home()
            previous = os.umask(mask)
            try:
                process = self.world.start(home, "new")
            finally:
                os.umask(previous)
            self.assertEqual(process.communicate()[1], "")
            modes = {mode for name, mode in tree(home).items() if name != "tmp"}
            self.assertEqual((modes, tree(home)[".local/bin/skillfold"]), ({"d 755", "755", "644"}, "755"))

    def test_prefix_may_have_any_name(self):
        for name in ("a b", "it's", 'a"$HOME`id`', "a\\033b", "a*", "ä", "-a", "a/b/c"):
            with self.subTest(name):
                prefix = self.home / "prefixes" / name
                output = self.installs(self.home, "new", "--prefix", prefix)
                line = output.split("  export ")[1].splitlines()[0]
                first = subprocess.run(["sh", "-c", f"PATH=; {line}; printf '%s\\n' \"${{PATH%:}}\""], capture_output=True, text=True).stdout
                self.assertEqual((self.files(prefix), first), (FILES, f"{prefix}/bin\n"))
                self.installs(self.home, "new", "--uninstall", "--prefix", f"{prefix}//", shell="busybox")
                self.assertFalse(prefix.exists())
        self.installs(self.home, "new", "--prefix", "relative")
        self.assertEqual(self.files(self.home / "relative"), FILES)
        self.refuses("has a line break", self.home, "new", "--prefix", "a\nb", code=2)
        self.refuses("HOME is not set", self.home, "new", HOME="")

    def test_wrong_arguments_are_refused(self):
        for words in (["--force"], ["0.1.0"], ["--prefix"], ["--prefix", ""], ["--uninstal"], ["-u"], [""]):
            with self.subTest(words):
                done = self.refuses("error: ", self.home, "new", *words, code=2)
                self.assertEqual((done.stdout, tree(self.home)), ("", {"tmp": "d 755"}))
        self.assertIn("--uninstall", self.installs(self.home, "new", "--help"))
        self.assertEqual(self.world.server.asked, [])

    def test_path_is_explained(self):
        absent = "is not on PATH. Add this line"
        self.assertIn(absent, self.installs(self.home, "new"))
        programs = self.world.shells["dash"][1]
        on_path = f"{self.local}/bin:{programs}"
        self.assertNotIn("PATH", self.installs(self.home, "new", path=on_path))
        other = self.world.changed(skillfold=FOREIGN)
        self.assertIn(f"`skillfold` starts {other}/skillfold, which comes first on PATH", self.installs(self.home, "new", path=f"{other}:{on_path}"))

    def test_update_replaces_and_removes_what_the_new_version_lacks(self):
        self.add_old()
        self.assertIn("share/man/man1/skillfold-gone.1", self.files())
        self.assertEqual(self.runs(), "skillfold 0.0.1")
        self.assertIn("share/man/man1/skillfold-gone.1, which this version does not have", self.installs(self.home, "new"))
        self.assertEqual((self.files(), self.runs()), (FILES, f"skillfold {self.new}"))
        self.installs(self.home, "new", "--uninstall")
        self.assertEqual(tree(self.home), {"tmp": "d 755"})

    def test_program_that_it_did_not_install_stays(self):
        for name in ("bin/skillfold", "share/man/man1/skillfold.1", "share/skillfold/LICENSE-MIT"):
            with self.subTest(name):
                home = self.world.home()
                file = home / ".local" / name
                file.parent.mkdir(parents=True)
                file.write_text(FOREIGN)
                self.give(home)
                before = tree(home)
                done = self.refuses(f"`{file}` was not installed by this script", home, "new")
                self.assertIn("--prefix DIR", done.stderr)
                self.assertEqual((tree(home), file.read_text()), (before, FOREIGN))
                file.unlink()
                file.symlink_to("nowhere")
                self.refuses("was not installed by this script", home, "new")
                file.unlink()
                file.mkdir()
                self.refuses("is a folder", home, "new")

    def give(self, folder):
        """Makes the ordinary user own a folder and what is in it."""
        if os.getuid() == 0:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def test_link_in_the_place_of_a_file_is_replaced_and_not_followed(self):
        self.installs(self.home, "new")
        target = self.home / "target"
        target.write_text("mine\n")
        file = self.local / "bin/skillfold"
        file.unlink()
        file.symlink_to(target)
        self.give(self.home)
        self.installs(self.home, "new")
        self.assertEqual((target.read_text(), self.files(), self.runs()), ("mine\n", FILES, f"skillfold {self.new}"))

    def test_uninstall_leaves_what_is_not_its_own(self):
        mine = ("bin/other", "share/man/man1/other.1", "share/skillfold/notes.txt", "share/fish/config.fish")
        for name in mine:
            (self.local / name).parent.mkdir(parents=True, exist_ok=True)
            (self.local / name).write_text("mine\n")
        (self.local / "share/zsh/site-functions").mkdir(parents=True)
        self.give(self.home)
        before = tree(self.home)
        self.installs(self.home, "new")
        self.installs(self.home, "new", "--uninstall")
        self.assertEqual(tree(self.home), before)
        done = self.refuses("has installed nothing in", self.home, "new", "--uninstall")
        self.assertIn("installed.txt", done.stderr)
        self.assertEqual(tree(self.home), before)

    def test_receipt_that_names_other_files_is_refused(self):
        self.installs(self.home, "new")
        receipt = self.local / "share/skillfold/installed.txt"
        text = receipt.read_text()
        (self.home / "mine").write_text("mine\n")
        lines = ["file ../mine", "file bin/../../mine", f"file {self.home}/mine", "file bin/other", "folder ..", "folder share/other"]
        lines += ["file share/man/man1/skillfold/../../../../../mine.1", "file bin/skillfold\r", "else", "file ", " file bin/skillfold"]
        for line in lines:
            with self.subTest(line):
                receipt.write_text(text + line + "\n")
                for words in ([], ["--uninstall"]):
                    self.refuses("is not a receipt that this script can read", self.home, "new", *words)
        self.assertEqual((self.files(), (self.home / "mine").read_text()), (FILES, "mine\n"))
        receipt.unlink()
        receipt.symlink_to(self.home / "mine")
        self.refuses("is not a receipt", self.home, "new", "--uninstall")

    def test_unwritable_prefix_is_named(self):
        prefix = self.world.root / "unwritable"
        prefix.mkdir(mode=0o555)
        for shell in ("dash", "busybox"):
            self.refuses(f"Cannot write to `{prefix}/bin`, so nothing is changed", self.home, "new", "--prefix", prefix, shell=shell)
        self.assertEqual((tree(prefix), tree(self.home)), ({}, {"tmp": "d 755"}))
        self.refuses("Cannot create a folder in", self.home, "new", TMPDIR=str(self.home / "absent"))

    @unittest.skipUnless(NAMESPACES, "no user namespaces")
    def test_full_disk_leaves_the_old_version(self):
        self.add_old()
        release = Release(self.new, self.world.key)
        release.repack(lambda listed: listed.append(Member(listed.pop().name, program(self.new) + os.urandom(200_000), mode=0o755)))
        self.add("large", release)
        place = self.world.home()
        number = len(self.files())
        for shell in ("dash", "busybox"):
            with self.subTest(shell):
                before = in_namespace(SMALL, "128k", place, self.local)
                done = self.refuses(f"Cannot write to `{place}/bin`", self.home, "large", "--prefix", place, shell=shell, before=before)
                self.assertIn(f"program: skillfold 0.0.1\nfiles: {number}\n", done.stdout)
                before = in_namespace(SMALL, "128k", self.home / "tmp", self.local)
                done = self.refuses("error: ", self.home, "large", shell=shell, before=before)
                self.assertEqual(self.runs(), "skillfold 0.0.1")


class Interrupted(Case):
    def copy(self, home):
        """Makes a home with what another one has."""
        copied = self.world.home()
        subprocess.run(["cp", "-a", f"{home}/.", copied], check=True)
        return copied

    def assert_whole(self, home, old):
        """The program is the old or the new one, and the next run repairs all else."""
        place = home / ".local/bin/skillfold"
        if old or place.exists():
            self.assertIn(self.runs(home / ".local"), {f"skillfold {self.new}", *old})
        self.installs(home, "new")
        self.assertEqual((self.files(home / ".local"), self.runs(home / ".local")), (FILES, f"skillfold {self.new}"))

    def test_killed_before_each_replacement(self):
        """`mv` puts every file in its place; here it kills the script at one of its calls."""
        shim = f"""#!/bin/sh
count=$(($(cat "$HOME/count") + 1))
echo "$count" >"$HOME/count"
[ "$count" != "$LAST" ] || {{ kill "-$SIGNAL" "$PPID"; exit 1; }}
exec {shutil.which("mv")} "$@"
"""
        path = self.world.changed(mv=shim)
        empty = self.world.home()
        self.add_old()
        for is_update in (False, True):
            for name, calls in (("KILL", range(1, 13) if is_update else (1, 2, 11)), ("TERM", (1, 6)), ("INT", (11,))):
                for last in calls:
                    with self.subTest(signal=name, last=last, is_update=is_update):
                        home = self.copy(self.home if is_update else empty)
                        (home / "count").write_text("0")
                        (home / "count").chmod(0o666)
                        done = self.world.run(home, "new", path=path, LAST=str(last), SIGNAL=name)
                        # As many as there are files and receipts.
                        self.assertEqual(done.returncode == 0, last > 11, done.stderr)
                        self.assert_whole(home, {"skillfold 0.0.1"} if is_update else set())
                        if name != "KILL":
                            self.assertEqual(list((home / "tmp").iterdir()), [])

    def test_killed_at_any_time(self):
        self.add_old()
        for shell in ("dash", "busybox"):
            start = time.monotonic()
            self.installs(self.world.home(), "new", shell=shell)
            duration = time.monotonic() - start
            for step in range(5):
                home = self.copy(self.home)
                process = self.world.start(home, "new", shell=shell)
                time.sleep(duration * step / 5)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[step % 3])
                process.communicate()
                self.assert_whole(home, {"skillfold 0.0.1"})

    def test_closed_output_leaves_nothing_behind(self):
        for shell in ("dash", "bash", "busybox"):
            home = self.copy(self.home)
            process = self.world.start(home, "new", shell=shell)
            process.stdout.close()
            process.communicate()
            self.assertEqual(tree(home), {"tmp": "d 755"})

    def test_cut_script_runs_nothing(self):
        """Whatever the end of the script is: no command of it runs, with any part of it."""
        script = self.world.script
        cuts = {len(script) * step // 20 for step in range(20)} | set(range(len(script) - 32, len(script) - 2))
        for cut in sorted(cuts):
            done = self.world.run(self.home, "new", script=script[:cut], shell=("dash", "bash", "busybox")[cut % 3])
            self.assertEqual((done.stdout, tree(self.home)), ("", {"tmp": "d 755"}), script[:cut][-60:])
        self.assertEqual(self.world.server.asked, [])
        # Without its last line break it is whole.
        self.installs(self.home, "new", script=script.rstrip("\n"))

    def test_two_at_a_time_leave_a_program_that_runs(self):
        for _ in range(3):
            self.home = self.world.home()
            for process in [self.world.start(self.home, "new") for _ in range(2)]:
                process.communicate()
            self.assert_whole(self.home, set())


class Network(Case):
    def paths(self):
        """Yields each downloader, with the shell and the programs that it comes with."""
        yield "curl", "dash", None
        yield "wget", "dash", self.world.changed(curl=None)
        yield "busybox wget", "busybox", None

    def test_each_downloader_reports_what_a_server_does(self):
        new = self.world.server.folders["new"]
        archive = f"skillfold-{self.new}-{TARGETS[0]}.tar.gz"

        def endless(handler):
            handler.send_response(200)
            handler.end_headers()
            while True:
                handler.wfile.write(bytes(1 << 16))

        def slow(handler):
            handler.send_response(200)
            handler.end_headers()
            for _ in range(100):
                handler.wfile.write(b"0")
                time.sleep(0.2)

        def redirect(handler):
            handler.send_response(302)
            handler.send_header("Location", self.world.server.address("new") + "/SHA256SUMS")
            handler.end_headers()

        def error(handler):
            handler.send_error(503)

        cases = {
            "absent": ({}, "/SHA256SUMS: "),
            "no-archive": ({name: new[name] for name in new if name != archive}, f"/{archive}: "),
            "error": (new | {"SHA256SUMS": error}, "Cannot download"),
            "endless": (new | {"SHA256SUMS": endless}, "`SHA256SUMS` is larger than 1048576 bytes"),
            "endless-signature": (new | {"SHA256SUMS.sig": endless}, "`SHA256SUMS.sig` is larger than 1024 bytes"),
            "endless-archive": (new | {archive: endless}, f"`{archive}` is larger than 52428800 bytes"),
            "slow": (new | {"SHA256SUMS": slow}, "Cannot download"),
            "redirect": (new | {"SHA256SUMS": redirect}, "Cannot download"),
            "truncated": (new | {archive: lambda handler: handler.answer(new[archive][:99], len(new[archive]))}, archive),
        }
        hasty = self.world.script.replace("\nseconds=900\n", "\nseconds=2\n")
        self.assertNotEqual(hasty, self.world.script)
        for folder, (files, why) in cases.items():
            self.world.server.folders[folder] = files
            for name, shell, path in self.paths():
                with self.subTest(folder, downloader=name):
                    if (folder, name) == ("redirect", "busybox wget"):
                        # It has no option against this; the redirect is to our own server.
                        self.installs(self.world.home(), folder, shell=shell)
                        continue
                    start = time.monotonic()
                    script = hasty if folder == "slow" else None
                    self.refuses(why, self.home, folder, shell=shell, path=path, script=script)
                    self.assertEqual(tree(self.home), {"tmp": "d 755"})
                    self.assertLess(time.monotonic() - start, 18)

    def test_https_never_turns_to_http(self):
        server = self.world.server
        certificate, key = self.world.root / "tls.pem", self.world.root / "tls-key.pem"
        names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate, *names)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
        secure = type(server)()
        self.addCleanup(secure.server_close)
        self.addCleanup(secure.shutdown)
        secure.socket = context.wrap_socket(secure.socket, server_side=True)

        def address(folder):
            return secure.address(folder).replace("http://127.0.0.1", "https://localhost")

        def redirect(target):
            def answer(handler):
                handler.send_response(302)
                handler.send_header("Location", target + "/" + handler.path.rpartition("/")[2])
                handler.end_headers()

            return answer

        new = server.folders["new"]
        secure.folders = {"new": new}
        for folder, target in (("other", address("new")), ("plain", server.address("new"))):
            secure.folders[folder] = dict.fromkeys(new, redirect(target))
        trust = {"CURL_CA_BUNDLE": str(certificate), "SSL_CERT_FILE": str(certificate)}
        for name, shell, path in self.paths():
            with self.subTest(name):
                home = self.world.home()
                (home / ".wgetrc").write_text(f"ca_certificate = {certificate}\n")
                for folder in ("new", "other"):
                    self.installs(home, "", shell=shell, path=path, INSTALL_SKILLFOLD_FROM=address(folder), **trust)
                server.asked.clear()
                if name == "busybox wget":
                    # It follows all the same.
                    self.installs(home, "", shell=shell, path=path, INSTALL_SKILLFOLD_FROM=address("plain"), **trust)
                    continue
                self.refuses("Cannot download", home, "", shell=shell, path=path, INSTALL_SKILLFOLD_FROM=address("plain"), **trust)
                self.assertEqual(server.asked, [])

    def test_only_https_and_this_machine_are_asked(self):
        port = self.world.server.server_port
        wrong = ["http://example.com/new", "ftp://127.0.0.1/new", "file:///tmp", "example.com", "http://127.0.0.1.example.com/new", "https://"]
        wrong += [f"http://127.0.0.1:{port}@example.com/new", "http://localhost.example.com/", "HTTP://example.com", "https://a b", "https://a/\033[2J"]
        for address in wrong:
            with self.subTest(address):
                done = self.refuses("The address is not one of HTTPS", self.home, "", INSTALL_SKILLFOLD_FROM=address)
                self.assertNotIn("\033", done.stderr)
        for host in ("localhost", "127.0.0.1"):
            self.installs(self.home, "", INSTALL_SKILLFOLD_FROM=f"http://{host}:{port}/new/")

    def test_proxy_is_not_asked_for_this_machine(self):
        proxy = {"http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"}
        for name, shell, path in self.paths():
            with self.subTest(name):
                self.installs(self.world.home(), "new", shell=shell, path=path, **proxy)


class Systems(Case):
    def test_platform_is_chosen_by_its_name(self):
        cases = {
            ("Linux", "x86_64"): "x86_64-unknown-linux-musl",
            ("Linux", "aarch64"): "aarch64-unknown-linux-musl",
            ("Linux", "arm64"): "aarch64-unknown-linux-musl",
            ("Darwin", "arm64"): "aarch64-apple-darwin",
            ("Darwin", "x86_64"): "x86_64-apple-darwin",
        }
        for (system, machine), target in cases.items():
            path = self.uname(system, machine)
            self.assertIn(f"for {target}, from", self.installs(self.world.home(), "new", path=path))
        path = self.uname("Darwin", "x86_64", sysctl="#!/bin/sh\n[ \"$*\" = '-n hw.optional.arm64' ] && echo 1\n")
        self.assertIn("for aarch64-apple-darwin, from", self.installs(self.home, "new", path=path))

    def uname(self, system, machine, **programs):
        script = f'#!/bin/sh\ncase "$1" in -s) echo "{system}" ;; -m) echo "{machine}" ;; esac\n'
        return self.world.changed(uname=script, **programs)

    def test_other_platforms_are_told_the_way_out(self):
        for machine in ("i686", "armv7l", "riscv64", "ppc64le", "s390x"):
            done = self.refuses(f"There is no binary for this processor: `{machine}`", self.home, "new", path=self.uname("Linux", machine))
            self.assertIn("cargo install skillfold-cli", done.stderr)
        self.refuses("There is no binary for this system: `FreeBSD`", self.home, "new", path=self.uname("FreeBSD", "amd64"))
        for system in ("MINGW64_NT-10.0-22631", "MSYS_NT-10.0", "CYGWIN_NT-10.0"):
            self.assertIn("zip", self.refuses("this is Windows", self.home, "new", path=self.uname(system, "x86_64")).stderr)
        self.assertEqual((tree(self.home), self.world.server.asked), ({"tmp": "d 755"}, []))

    def test_missing_programs_are_named(self):
        path = self.world.changed(curl=None, wget=None)
        self.refuses("There is neither curl nor wget", self.home, "new", path=path)
        for program in ("find", "grep", "gzip", "tar"):
            path = self.world.changed(**{program: None})
            for words in ([], ["--uninstall"]):
                self.refuses(f"There is no {program}, which this script needs", self.home, "new", *words, path=path)
        path = self.world.changed(openssl=None)
        self.refuses("There is neither openssl nor cosign to check the signature, so nothing is installed", self.home, "new", path=path)
        self.assertEqual((tree(self.home), self.world.server.asked), ({"tmp": "d 755"}, []))

    def test_checksums_come_from_what_is_there(self):
        for programs in ({"sha256sum": None}, {"sha256sum": None, "shasum": shutil.which("shasum")}):
            with self.subTest(programs):
                path = self.world.changed(**programs)
                self.installs(self.world.home(), "new", path=path)
                release = Release(self.new, self.world.key)
                release.files[release.archive()] += b"\0"
                self.add("other", release)
                self.refuses("has another checksum", self.home, "other", path=path)

    def test_cosign_checks_where_openssl_is_absent(self):
        """Without cosign itself: a program that takes its words, and verifies with openssl."""
        path = self.world.changed(
            openssl=None,
            cosign=f"""#!/bin/sh
[ $# = 7 ] && [ "$1 $2 $4 $6" = "verify-blob --key --signature --insecure-ignore-tlog" ] || exit 2
{shutil.which("openssl")} base64 -d -A <"$5" >"$TMPDIR/signature"
{shutil.which("openssl")} dgst -sha256 -verify "$3" -signature "$TMPDIR/signature" "$7" || code=1
rm "$TMPDIR/signature"
exit "${{code:-0}}"
""",
        )
        self.installs(self.world.home(), "new", path=path)
        release = Release(self.new, self.world.key)
        release.files["SHA256SUMS"] += b"0" * 64 + b"  more\n"
        self.add("other", release)
        self.refuses("`SHA256SUMS` is not signed", self.home, "other", path=path)


class Maker(unittest.TestCase):
    def make(self, key, **variables):
        command = [str(HERE / "install_script.sh"), str(key)]
        return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)

    def test_other_keys_and_addresses_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            key, public = pathlib.Path(folder, "key.pem"), pathlib.Path(folder, "release.pub")
            good = {"REPOSITORY": "https://example.com/skillfold"}
            for curve in ("secp384r1", "secp256k1", "prime256v1"):
                key.write_bytes(openssl("ecparam", "-name", curve, "-genkey", "-noout"))
                public.write_bytes(openssl("ec", "-in", key, "-pubout"))
                done = self.make(public, **good)
                self.assertEqual((done.returncode, "is no public key of ECDSA with P-256" in done.stderr), (0, False) if curve == "prime256v1" else (1, True))
            self.assertEqual(self.make(key, **good).returncode, 1)
            for address in ("http://example.com/skillfold", "https://example.com/a b", "https://example.com/'", "example.com"):
                self.assertIn("is no HTTPS address", self.make(public, REPOSITORY=address).stderr)
            self.assertNotRegex(self.make(public, **good).stdout, "@[A-Z]+@|PRIVATE")


if __name__ == "__main__":
    if not NAMESPACES:
        print("left out: root and full disks, which need user namespaces", file=sys.stderr)
    unittest.main()
