"""The filesystems that scripts/bench measures: how each is made, mounted, remounted cold, and removed."""

import glob
import gzip
import os
import shutil
import stat
import subprocess
import time

MOUNT_SECONDS = 60
UNMOUNT_SECONDS = 60


class Failure(Exception):
    """Something of one target did not work; its message goes into the report."""


def last_words(text):
    """The end of what a program printed, on one line: usually its error message."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return " / ".join(lines[-2:])[:300] or "no message"


def run(*command, **options):
    """Runs a short helper command and returns its output; it is never what is measured."""
    options.setdefault("stdin", subprocess.DEVNULL)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Failure(f"{os.path.basename(command[0])} {command[1] if len(command) > 1 else ''}: {last_words(done.stdout)}")
    return done.stdout


def settle(folder):
    """Writes out what earlier work left dirty, so that nobody pays for somebody else's writes."""
    run("sync", "-f", folder)


def drop_caches(what="3"):
    """Empties the kernel's page, entry and inode caches (3), or the first only (1); needs root. Says whether it did."""
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as control:
            control.write(what)
        return True
    except OSError:
        return False


def read_whole(paths):
    """Brings files into the page cache; those that cannot be read are left out."""
    for path in paths:
        try:
            with open(path, "rb") as stream:
                while stream.read(1 << 20):
                    pass
        except OSError:
            pass


def mapped_files(process_id):
    """The programs and libraries a process has mapped; none where that cannot be seen."""
    try:
        with open(f"/proc/{process_id}/maps", encoding="utf-8", errors="surrogateescape") as maps:
            paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if len(line.split(maxsplit=5)) == 6}
    except OSError:
        return []
    return sorted(path for path in paths if path.startswith("/") and os.path.isfile(path))


def remove_tree(folder):
    """Removes a private folder, but never reaches into a filesystem that is still mounted in it."""
    if os.path.isdir(folder):
        run("rm", "-rf", "--one-file-system", folder)


class Target:
    """A folder to work in. `folder` is valid from `start` to `close`."""

    def __init__(self, name):
        self.name = name
        self.folder = None
        self.description = ""

    def start(self):
        raise NotImplementedError

    def make_cold(self):
        """Afterwards nothing of the target's files is in memory, as far as this user can get that."""
        raise NotImplementedError

    def is_alive(self):
        return os.path.isdir(self.folder)

    def revive(self):
        """Makes it usable again after a failure."""
        raise Failure("the folder is gone")

    def processor_seconds(self):
        """Processor time the target's daemon has used so far; None where there is no daemon."""
        return None

    def kill(self):
        """Ends what may keep a stuck program from ending."""

    def close(self):
        raise NotImplementedError


class PlainTarget(Target):
    """A folder that exists already, mounted by whoever gave it (NAME=DIR)."""

    def __init__(self, name, directory):
        super().__init__(name)
        self.directory = directory
        self.description = f"the folder {directory}, as it is"

    def start(self):
        if not os.path.isdir(self.directory):
            raise Failure(f"no such folder: {self.directory}")
        self.folder = os.path.join(self.directory, f"sfs-bench.{os.getpid()}")
        os.mkdir(self.folder)

    def make_cold(self):
        settle(self.folder)
        if not drop_caches():
            raise Failure("cold reads of a plain folder need root, to drop the kernel's caches")

    def close(self):
        if self.folder:
            remove_tree(self.folder)


class MountedTarget(Target):
    """A FUSE filesystem over a private folder, its daemon a child of this process in the foreground."""

    def __init__(self, name, place, scratch):
        super().__init__(name)
        self.store = os.path.join(place, name, "store")
        self.folder = os.path.join(place, name, "mount")
        self.scratch = os.path.join(scratch, name)
        self.secret = os.path.join(self.scratch, "secret")
        self.daemon = None

    # What differs between the filesystems:

    def prepare(self):
        """Makes the filesystem's own files, once."""

    def command(self):
        """The command that mounts and stays in the foreground."""
        raise NotImplementedError

    # What does not:

    def start(self):
        for directory in (self.store, self.folder, self.scratch):
            os.makedirs(directory)
        with open(self.secret, "w", encoding="ascii") as stream:
            stream.write("the passphrase of a benchmark\n")
        self.prepare()
        self.mount()

    @property
    def log(self):
        return os.path.join(self.scratch, "log")

    def words(self):
        with open(self.log, encoding="utf-8", errors="replace") as stream:
            return last_words(stream.read())

    def mount(self):
        before = os.stat(self.folder).st_dev
        with open(self.log, "w", encoding="utf-8") as log:
            # A session of its own: Ctrl-C reaches this script, which then unmounts, and not the daemon.
            self.daemon = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + MOUNT_SECONDS
        while time.monotonic() < deadline:
            if self.daemon.poll() is not None:
                raise Failure(f"did not mount: {self.words()}")
            try:
                if os.stat(self.folder).st_dev != before:
                    return
            except OSError:
                pass
            time.sleep(0.005)
        self.kill()
        raise Failure(f"did not mount in {MOUNT_SECONDS} seconds: {self.words()}")

    def is_mounted(self):
        with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            return any(line.split(" ")[1].replace("\\040", " ") == self.folder for line in mounts)

    def unmount(self):
        deadline = time.monotonic() + UNMOUNT_SECONDS
        commands = [["umount"]] if os.geteuid() == 0 else [["fusermount3", "-u"], ["fusermount", "-u"]]
        reason = ""
        while self.is_mounted():
            for command in commands:
                if shutil.which(command[0]):
                    done = subprocess.run([*command, self.folder], capture_output=True, text=True, check=False)
                    reason = last_words(done.stderr)
                    if done.returncode == 0:
                        break
            else:
                if time.monotonic() > deadline:
                    raise Failure(f"cannot be unmounted: {reason}")
                time.sleep(0.05)
        if self.daemon:
            try:
                self.daemon.wait(UNMOUNT_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
                raise Failure(f"its daemon did not end within {UNMOUNT_SECONDS} seconds of the unmount") from None
            finally:
                self.daemon = None

    def make_cold(self):
        settle(self.folder)
        self.unmount()
        settle(self.store)
        drop_caches()
        self.mount()
        # Cold is what the filesystem stores. Its program was dropped too, and faulting that in again
        # from the system's disk is not what the row asks about.
        read_whole([self.daemon.args[0], *mapped_files(self.daemon.pid)])

    def is_alive(self):
        try:
            return self.daemon is not None and self.daemon.poll() is None and os.path.isdir(self.folder) and self.is_mounted()
        except OSError:
            return False

    def revive(self):
        """Mounts again after the daemon died, so that the other rows can be measured."""
        self.kill()
        self.lazily_unmount()
        self.daemon = None
        self.mount()

    def lazily_unmount(self):
        for command in (["umount", "-l"], ["fusermount3", "-u", "-z"], ["fusermount", "-u", "-z"]):
            if self.is_mounted() and shutil.which(command[0]):
                subprocess.run([*command, self.folder], capture_output=True, check=False)

    def processor_seconds(self):
        try:
            with open(f"/proc/{self.daemon.pid}/stat", encoding="ascii", errors="replace") as stream:
                fields = stream.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, AttributeError, IndexError):
            return None

    def kill(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.kill()
            self.daemon.wait()

    def close(self):
        try:
            self.unmount()
        except Failure:
            self.kill()
            self.lazily_unmount()
            raise
        finally:
            if not self.is_mounted():
                remove_tree(os.path.dirname(self.store))


def need(program, package):
    path = shutil.which(program)
    if not path:
        raise Failure(f"{program} is not installed: scripts/setup --bench installs Debian's {package}")
    return path


class Passthrough(MountedTarget):
    """libfuse's example of a filesystem that does nothing but pass calls on: the ceiling."""

    examples = "usr/share/doc/libfuse3-dev/examples"
    options = "cache=always,writeback"

    def prepare(self):
        self.description = f"libfuse's example, -o {self.options or '(none)'}: no encryption, the ceiling"
        source = os.path.join(self.scratch, "source")
        os.mkdir(source)
        examples = os.path.join("/", self.examples)
        if not glob.glob(os.path.join(examples, "passthrough_ll.c*")):
            examples = self.unpack_examples(source)
        for name in ("passthrough_ll.c", "passthrough_helpers.h"):
            path = os.path.join(examples, name)
            opened = gzip.open(path + ".gz") if not os.path.exists(path) else open(path, "rb")
            with opened as packed, open(os.path.join(source, name), "wb") as plain:
                shutil.copyfileobj(packed, plain)
        self.program = os.path.join(self.scratch, "passthrough_ll")
        flags = run(need("pkg-config", "pkg-config"), "fuse3", "--cflags", "--libs").split()
        run(need("gcc", "gcc"), "-O2", "-o", self.program, os.path.join(source, "passthrough_ll.c"), *flags)

    def unpack_examples(self, folder):
        """Images that install no documentation lack the example; the package still has it."""
        try:
            run(need("apt-get", "apt"), "-q", "download", "libfuse3-dev", cwd=folder)
            package, = glob.glob(os.path.join(folder, "libfuse3-dev*.deb"))
            run("dpkg-deb", "-x", package, folder)
        except (Failure, ValueError) as error:
            raise Failure(f"no passthrough_ll.c under /{self.examples}, and the package cannot be had: {error}") from None
        return os.path.join(folder, self.examples)

    def command(self):
        options = f"source={self.store}" + ("," + self.options if self.options else "")
        return [self.program, "-f", "-o", options, self.folder]


class PassthroughDefault(Passthrough):
    """The same without the kernel's write-back cache and with short timeouts, as most FUSE filesystems run."""

    options = ""


class Gocryptfs(MountedTarget):
    def prepare(self):
        self.program = need("gocryptfs", "gocryptfs")
        self.description = run(self.program, "-version").split(";")[0] + ", default options"
        run(self.program, "-init", "-q", "-scryptn", "10", "-passfile", self.secret, self.store)

    def command(self):
        return [self.program, "-q", "-fg", "-passfile", self.secret, self.store, self.folder]


class Securefs(MountedTarget):
    def prepare(self):
        self.program = need("securefs", "securefs")
        package = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "securefs"], capture_output=True, text=True, check=False)
        self.description = f"securefs {package.stdout or '(version unknown)'}, lite format (4), default options"
        with open(self.secret, "wb") as stream:
            stream.write(os.urandom(32))
        # A key file, since the alternative is a passphrase in the arguments.
        run(self.program, "create", "--format", "4", "-r", "1", "--keyfile", self.secret, self.store)

    def command(self):
        return [self.program, "mount", "--keyfile", self.secret, self.store, self.folder]


class Encfs(MountedTarget):
    def prepare(self):
        self.program = need("encfs", "encfs")
        self.description = run(self.program, "--version").strip() + ", --standard"

    def command(self):
        # The first mount makes the filesystem.
        return [self.program, "--standard", f"--extpass=cat '{self.secret}'", "-f", self.store, self.folder]


class SecureFS(MountedTarget):
    program = None  # set by scripts/bench

    def prepare(self):
        version = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=False)
        self.description = (last_words(version.stdout) if version.returncode == 0 else "sfs") + ", default options"
        os.chmod(self.secret, stat.S_IRUSR | stat.S_IWUSR)
        run(self.program, "init", self.store, "--passfile", self.secret)

    def command(self):
        return [self.program, "mount", self.store, self.folder, "--passfile", self.secret, "-f"]


class Backing(PlainTarget):
    """The folder all stores lie in, without FUSE."""

    def __init__(self, name, place, _scratch):
        super().__init__(name, place)
        self.description = "the base folder itself: no FUSE, no encryption"


KINDS = {
    "passthrough_ll": Passthrough,
    "passthrough_ll_default": PassthroughDefault,
    "gocryptfs": Gocryptfs,
    "securefs": Securefs,
    "encfs": Encfs,
    "sfs": SecureFS,
    "backing": Backing,
}
