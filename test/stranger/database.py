"""PostgreSQL from outside: a server or a database of our own, and rows by psql."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from decimal import Decimal
from glob import glob


class Unavailable(Exception):
    """Something that this test needs is missing; the message says what to install."""


class Database:
    def __init__(self, root, name):
        if not shutil.which("psql"):
            raise Unavailable("psql is missing: install the client of PostgreSQL (apt-get install postgresql-client)")
        self.name, self.folder, self.server, self.root = name, None, None, root
        given = os.environ.get("DATABASE_URL")
        self.base = given or self._start()
        base, _, options = self.base.partition("?")
        self.url = base.rsplit("/", 1)[0] + "/" + name + ("?" + options if options else "")
        self.execute('create database "%s"' % name, self.base)

    def _start(self):
        tools = sorted(glob("/usr/lib/postgresql/*/bin")) + sorted(glob("/usr/pgsql-*/bin"))
        initdb = shutil.which("initdb") or next((t + "/initdb" for t in reversed(tools)
                                                 if os.path.exists(t + "/initdb")), None)
        self.folder = tempfile.mkdtemp(prefix="stranger-")
        if initdb is None:
            return self._start_embedded()
        user = "postgres" if os.getuid() == 0 else None
        if user:
            shutil.chown(self.folder, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = self.folder + "/data"
        self.server = lambda *words: subprocess.run(
            (["runuser", "-u", user, "--"] if user else []) + list(words), check=True, cwd="/",
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.control = os.path.dirname(initdb) + "/pg_ctl"
        try:
            self.server(initdb, "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale")
            self.server(self.control, "-D", data, "-w", "-l", self.folder + "/log", "-o",
                        "-p %d -k %s -c listen_addresses=127.0.0.1 -c fsync=off" % (port, self.folder), "start")
        except subprocess.CalledProcessError as failed:
            raise Unavailable("PostgreSQL did not start: " + failed.stderr.decode().strip())
        return "postgres://postgres@127.0.0.1:%d/postgres" % port

    def _start_embedded(self):
        """The server that comes with the program, as docs/tables.md describes it."""
        program = ["node", self.root + "/bin/tracking-sync.cjs", "database"]
        environment = {k: v for k, v in os.environ.items() if k != "DATABASE_URL"}
        environment["TRACKING_HOME"] = self.folder + "/home"
        run = lambda word: subprocess.run(program + [word], env=environment, check=True, text=True,
                                          stdout=subprocess.PIPE).stdout.strip()
        try:
            run("start")
            self.embedded = run
            return run("url").splitlines()[-1]
        except (OSError, subprocess.CalledProcessError):
            raise Unavailable("no PostgreSQL: set DATABASE_URL, or install it (apt-get install postgresql)")

    def close(self):
        try:
            self.execute('drop database if exists "%s" with (force)' % self.name, self.base)
            if self.server:
                self.server(self.control, "-D", self.folder + "/data", "-m", "immediate", "stop")
            elif self.folder:
                self.embedded("stop")
        finally:
            if self.folder:
                shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, sql, url=None):
        environment = dict(os.environ, PGTZ="UTC", PGOPTIONS="-c jit=off", PGCLIENTENCODING="UTF8")
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url or self.url],
                              input=sql, env=environment, text=True, encoding="utf-8",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise RuntimeError("psql: %s (%s)" % (done.stderr.strip(), sql[:200]))
        return done.stdout

    def rows(self, relation, as_of=None, undone=""):
        """The rows of a table or view, as objects with exact numbers; `undone` is SQL that is rolled back."""
        before = "begin;\n" + undone if undone else ""
        if as_of:
            before = "set tracking_sync.as_of = '%s';\n" % as_of
        out = self.execute(before + "select row_to_json(t)::text from (select * from %s) t" % relation)
        return [json.loads(line, parse_float=Decimal) for line in out.split("\n") if line]
