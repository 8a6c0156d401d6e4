"""The rows of scripts/bench: each is one piece of work, done by a real program in a target's folder."""

import os
import shutil
import subprocess

from targets import Failure, last_words, run

MIB = 1 << 20


class Sizes:
    """How much each row does, at a given scale."""

    def __init__(self, scale):
        def scaled(full, least):
            return max(least, int(full * scale))

        self.sequential = scaled(512, 8) * MIB
        self.random_file = scaled(256, 8) * MIB
        self.random_operations = scaled(20_000, 500)
        self.appends = scaled(100_000, 2_000)
        self.synced_appends = scaled(200, 10)
        self.small_files = scaled(2_000, 256)
        self.commits = scaled(500, 20)


class Corpus:
    """A tree of real files and a tar of it, in the scratch folder; made once and warm."""

    def __init__(self, source, scratch, scale):
        self.tree = os.path.join(scratch, "corpus")
        self.tar = os.path.join(scratch, "corpus.tar")
        self.files = self.bytes = 0
        paths = []
        for folder, folders, names in os.walk(source):
            folders.sort()
            paths += [os.path.join(folder, name) for name in sorted(names)]
        step = max(1, round(1 / scale))
        for path in paths[::step]:
            copy = os.path.join(self.tree, os.path.relpath(path, source))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)
            self.files += 1
            self.bytes += os.lstat(copy).st_size
        if not self.files:
            raise Failure(f"the corpus {source} holds no file; name another with --corpus")
        run("tar", "-cf", self.tar, "-C", self.tree, ".")

    def warm(self):
        run("sh", "-c", 'cat "$1" >/dev/null; find "$2" -type f -exec cat {} + >/dev/null', "sh", self.tar, self.tree)


class Context:
    """What the rows share: helper program, corpus, sizes, seed, and the paths inside a target."""

    def __init__(self, work, corpus, sizes, seed):
        self.work, self.corpus, self.sizes, self.seed = work, corpus, sizes, seed

    @staticmethod
    def path(target, name):
        return os.path.join(target.folder, name)

    def remove(self, target, *names):
        for name in names:
            run("rm", "-rf", self.path(target, name))

    def ensure_file(self, target, name, size):
        """A file of that size, made if it is not there; what rows other than its maker start from."""
        path = self.path(target, name)
        if not os.path.exists(path) or os.path.getsize(path) != size:
            run(self.work, "seqwrite", path, str(size))

    def ensure_tree(self, target):
        if not os.path.isdir(self.path(target, "tree")):
            os.mkdir(self.path(target, "tree"))
            run("tar", "-xf", self.corpus.tar, "-C", self.path(target, "tree"))

    def compare_tree(self, target):
        run("diff", "-r", "--no-dereference", self.corpus.tree, self.path(target, "tree"))

    def check_size(self, target, name, size):
        found = os.path.getsize(self.path(target, name))
        if found != size:
            raise Failure(f"{name} has {found} bytes after the row, not {size}")


class Row:
    """One row. `cold`: nothing of the target is cached when it starts. `sync`: how long it takes until
    the result is on the disk is a second row, `NAME+sync`. `creates`: makes many files. An ext4 without a
    journal passes over every inode deleted in the last minutes, up to a millisecond for each new file, as
    long as it has the inodes in its cache: what earlier rows and other targets have removed would be measured."""

    name = what = ""
    cold = sync = creates = False

    def amount(self, context):
        """Bytes moved, for MB/s; None for a row told in seconds."""

    def prepare(self, context, target):
        """Makes what the row starts from; not measured."""

    def command(self, context, target):
        """The argument list that is measured from start to exit."""
        raise NotImplementedError

    def memory(self, context):
        """Bytes of page cache the row fills, in the mount and below it, with what is small beside that. In a virtual machine
        memory used for the first time costs a fault in the host, ten times what the row measures: it is touched before."""
        return 64 * MIB

    def warm_tools(self, context):
        """Runs the programs of a row that is cold or `creates` on nothing: they were dropped from the caches with the rest."""

    def input(self, context):
        """Standard input of the command."""
        return None

    def check(self, context, target):
        """After the first round only, not measured: was the work really done?"""

    def finish(self, context, target):
        """After each run, not measured: removes what no later row needs."""


class SequentialWrite(Row):
    name, what = "seq-write", "new file, 1 MiB writes, fsync"

    def amount(self, context):
        return context.sizes.sequential

    def memory(self, context):
        return 3 * context.sizes.sequential

    def prepare(self, context, target):
        context.remove(target, "sequential")

    def command(self, context, target):
        return [context.work, "seqwrite", context.path(target, "sequential"), str(context.sizes.sequential)]

    def check(self, context, target):
        context.check_size(target, "sequential", context.sizes.sequential)


class SequentialRead(Row):
    name, what, cold = "seq-read-cold", "that file, dd bs=1M", True

    def amount(self, context):
        return context.sizes.sequential

    def memory(self, context):
        return 3 * context.sizes.sequential

    def prepare(self, context, target):
        context.ensure_file(target, "sequential", context.sizes.sequential)

    def command(self, context, target):
        return ["dd", "if=" + context.path(target, "sequential"), "of=/dev/null", "bs=1M", "status=none"]

    def warm_tools(self, context):
        run("dd", "if=/dev/null", "of=/dev/null", "status=none")


class SequentialReadAgain(SequentialRead):
    name, what, cold = "seq-read-2nd", "the same again, warm", False

    def prepare(self, context, target):
        super().prepare(context, target)
        run(*self.command(context, target))

    def finish(self, context, target):
        context.remove(target, "sequential")


class RandomWrite(Row):
    name, what = "rand-write", "4 KiB writes in an existing file, warm, then fsync"
    verb, seed_offset = "randwrite", 1

    def amount(self, context):
        return context.sizes.random_operations * 4096

    def memory(self, context):
        return 2 * context.sizes.random_file

    def prepare(self, context, target):
        context.ensure_file(target, "random", context.sizes.random_file)
        if not self.cold:
            run("dd", "if=" + context.path(target, "random"), "of=/dev/null", "bs=1M", "status=none")

    def command(self, context, target):
        operations, seed = str(context.sizes.random_operations), str(context.seed + self.seed_offset)
        return [context.work, self.verb, context.path(target, "random"), operations, seed]

    def check(self, context, target):
        context.check_size(target, "random", context.sizes.random_file)


class RandomWriteCold(RandomWrite):
    name, what, cold, seed_offset = "rand-write-cold", "the same, nothing cached", True, 2


class RandomRead(RandomWrite):
    name, what, cold, verb, seed_offset = "rand-read-cold", "4 KiB reads, nothing cached", True, "randread", 3


class SmallAppend(Row):
    name, what = "small-append", "write(2) of 100 bytes each"
    verb, size = "append", 100

    def count(self, context):
        return context.sizes.appends

    def amount(self, context):
        return None

    def prepare(self, context, target):
        context.remove(target, "appended")

    def command(self, context, target):
        return [context.work, self.verb, context.path(target, "appended"), str(self.size), str(self.count(context))]

    def check(self, context, target):
        context.check_size(target, "appended", self.size * self.count(context))

    def finish(self, context, target):
        context.remove(target, "appended")


class SyncedAppend(SmallAppend):
    name, what = "append-fsync", "4 KiB and fsync, each"
    verb, size = "appendsync", 4096

    def count(self, context):
        return context.sizes.synced_appends


class Untar(Row):
    name, what, sync, creates = "untar", "tar -x of the corpus", True, True

    def warm_tools(self, context):
        run("tar", "--version")
        context.corpus.warm()

    def memory(self, context):
        return 2 * context.corpus.bytes

    def prepare(self, context, target):
        context.remove(target, "tree")
        os.mkdir(context.path(target, "tree"))

    def command(self, context, target):
        return ["tar", "-xf", context.corpus.tar, "-C", context.path(target, "tree")]

    def check(self, context, target):
        context.compare_tree(target)


class TreeRow(Row):
    def memory(self, context):
        return 2 * context.corpus.bytes

    def prepare(self, context, target):
        context.ensure_tree(target)

    def warm_tools(self, context):
        run("find", "/dev/null", "-printf", "%s %m %T@\\n", "-exec", "cat", "{}", "+")


class StatWalk(TreeRow):
    name, what, cold = "stat-walk-cold", "find -printf size, mode and time of all", True

    def command(self, context, target):
        return ["find", context.path(target, "tree"), "-printf", "%s %m %T@\\n"]


class StatWalkAgain(StatWalk):
    name, what, cold = "stat-walk-2nd", "the same again, warm", False

    def prepare(self, context, target):
        super().prepare(context, target)
        run(*self.command(context, target))


class ReadAll(TreeRow):
    name, what, cold = "read-all-cold", "cat of all files of the tree", True

    def command(self, context, target):
        return ["find", context.path(target, "tree"), "-type", "f", "-exec", "cat", "{}", "+"]


class RewriteAll(TreeRow):
    name, what, sync = "rewrite-all", "cp -r over the tree: each file cut and rewritten", True

    def prepare(self, context, target):
        super().prepare(context, target)
        context.corpus.warm()

    def command(self, context, target):
        return ["cp", "-r", context.corpus.tree + "/.", context.path(target, "tree")]

    def check(self, context, target):
        context.compare_tree(target)


class RemoveTree(TreeRow):
    name, what = "rm-tree", "rm -r of the tree"

    def command(self, context, target):
        return ["rm", "-r", context.path(target, "tree")]


class GitLike(Row):
    name, what, creates = "git-like", "small files, each written and renamed, then rm -r", True

    def warm_tools(self, context):
        run("sh", "-c", 'cat "$1" >/dev/null; rm --version', "sh", context.work)

    def prepare(self, context, target):
        context.remove(target, "objects")

    def command(self, context, target):
        script = '"$1" smallfiles "$2" "$3" && rm -r "$2"'
        return ["sh", "-c", script, "sh", context.work, context.path(target, "objects"), str(context.sizes.small_files)]


class SqliteCommits(Row):
    name, what, journal, creates = "sqlite-commits", "sqlite3, one insert a transaction", "delete", True

    def warm_tools(self, context):
        run("sqlite3", ":memory:", "create table t(a); insert into t values(1);")

    def prepare(self, context, target):
        if not shutil.which("sqlite3"):
            raise Failure("sqlite3 is not installed: scripts/setup --bench installs it")
        self.finish(context, target)
        database = context.path(target, "database")
        mode = run("sqlite3", database, f"pragma journal_mode={self.journal}; create table t(a integer primary key, b text);")
        if mode.strip() != self.journal:
            raise Failure(f"SQLite refused journal mode {self.journal} and stays with {mode.strip()}")

    def command(self, context, target):
        return ["sqlite3", "-bail", context.path(target, "database")]

    def input(self, context):
        return "".join(f"insert into t(b) values('value {number} {'x' * 80}');\n" for number in range(context.sizes.commits))

    def check(self, context, target):
        said = run("sqlite3", context.path(target, "database"), "pragma integrity_check; select count(*) from t;").split()
        if said != ["ok", str(context.sizes.commits)]:
            raise Failure(f"the database is not what was written: {' '.join(said)}")

    def finish(self, context, target):
        context.remove(target, *("database" + end for end in ("", "-journal", "-wal", "-shm")))


class SqliteWal(SqliteCommits):
    name, what, journal = "sqlite-wal", "the same in WAL mode", "wal"


ROWS = [
    SequentialWrite(), SequentialRead(), SequentialReadAgain(), RandomWrite(), RandomWriteCold(), RandomRead(),
    SmallAppend(), SyncedAppend(), Untar(), StatWalk(), StatWalkAgain(), ReadAll(), RewriteAll(), RemoveTree(),
    GitLike(), SqliteCommits(), SqliteWal(),
]


def execute(command, text, seconds, when_stuck):
    """Runs what is measured; its standard output is thrown away. Raises Failure if it fails or takes too long."""
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE if text else subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    try:
        _, errors = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        # A program stuck in a call of a dead filesystem cannot be killed before its daemon is.
        process.kill()
        when_stuck()
        process.communicate()
        raise Failure(f"not done after {seconds} seconds") from None
    except BaseException:
        process.kill()
        raise
    if process.returncode != 0:
        raise Failure(f"{os.path.basename(command[0])} exited with {process.returncode}: {last_words(errors)}")
