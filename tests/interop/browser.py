"""A page with the official TypeScript client in it, shown by a real browser.

The page is served from a port of its own, so that to whatever it asks it is a page of another origin, and says here what
came of it. By the name `app.example` it is one of the internet's, as far as the browser knows.
"""
import contextlib
import http.server
import json
import pathlib
import queue
import shutil
import subprocess
import threading
import urllib.parse

import pytest
from processes import started

TIMEOUT_S = 90
PAGE = pathlib.Path(__file__).with_name("browser.html")
OTHER_HOST = "app.example"
CLIENT = "@modelcontextprotocol/client"
NEEDED = (CLIENT, "@modelcontextprotocol/core", "zod", "eventsource", "eventsource-parser", "jose", "pkce-challenge")


def program():
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return found or pytest.skip("no browser: tools/bootstrap interop installs one")


def browser_export(target):
    """Selects the export of a package that a browser uses."""
    if isinstance(target, str):
        return target
    return next(filter(None, (browser_export(target[name]) for name in ("browser", "import", "default") if name in target)), None)


def import_map(modules):
    """Where the modules lie that others name without a path."""
    found = {}
    for name in NEEDED:
        exports = json.loads((modules / name / "package.json").read_text())["exports"]
        for part, target in exports.items():
            if "*" not in part and (file := browser_export(target)):
                found[name + part[1:]] = f"/{name}/{file.removeprefix('./')}"
    return {"imports": found}


class Browser:
    def __init__(self, modules, new_folder):
        self.modules, self.new_folder = modules, new_folder
        self.results = queue.Queue()
        self.map = json.dumps(import_map(modules))

    def send(self, request):
        """Serves the page and its modules; the page posts its result."""
        path = urllib.parse.urlsplit(request.path).path
        file = self.modules / path.lstrip("/")
        if path == "/":
            body, kind = PAGE.read_text().replace("IMPORT_MAP", self.map).encode(), "text/html"
        else:
            body, kind = file.read_bytes() if file.is_file() else b"", "text/javascript"
        request.send_response(200 if body else 404)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    @contextlib.contextmanager
    def site(self):
        """The port at which the page is."""
        browser = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                browser.send(self)

            def do_POST(self):
                browser.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server.server_port
            server.shutdown()

    @contextlib.contextmanager
    def at(self, host="127.0.0.1"):
        """A page of that host: its origin, and what visits a server with it and says what came of that."""
        with self.site() as port:
            def run_page(url, era="auto"):
                words = urllib.parse.urlencode({"url": url, "era": era})
                return self.show(f"http://{host}:{port}/?{words}")

            yield f"http://{host}:{port}", run_page

    def show(self, page):
        where = self.new_folder()
        with (where / "log").open("wb") as log, started(
                [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={where / 'profile'}",
                 f"--host-resolver-rules=MAP {OTHER_HOST} 127.0.0.1", "--no-proxy-server", page],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log):
            try:
                return self.results.get(timeout=TIMEOUT_S)
            except queue.Empty:
                pytest.fail(f"the page said nothing: {(where / 'log').read_text(errors='replace')[-4000:]}")
