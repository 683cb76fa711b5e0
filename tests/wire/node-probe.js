// Node's own HTTP parser on the bytes of a connection, with the output of wire-probe.
"use strict";
const { HTTPParser, methods } = require("_http_common");

const hex = (text) => Buffer.from(text, "latin1").toString("hex");

class Stopped extends Error {}

function answer(text) {
  const lines = [];
  const parser = new HTTPParser();
  let now = null, ended = null;

  parser.initialize(HTTPParser.REQUEST, {}, 1 << 20);
  parser[HTTPParser.kOnMessageBegin | 0] = () => {
    if (ended) throw new Stopped();
    now = { url: "", headers: [], body: "", whole: false };
  };
  parser[HTTPParser.kOnHeaders | 0] = (headers, url) => {
    if (now.whole) return; // trailers
    now.headers.push(...headers);
    now.url += url;
  };
  parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, headers, method, url, status, phrase,
    upgrade, keep) => {
    now.headers.push(...(headers || []));
    Object.assign(now, { whole: true, method: methods[method], url: now.url + (url || ""), minor, keep });
    if (upgrade) ended = "upgrade";
    return 0;
  };
  parser[HTTPParser.kOnBody | 0] = (bytes) => {
    now.body += bytes.toString("hex");
  };
  parser[HTTPParser.kOnMessageComplete | 0] = () => {
    const fields = [];
    for (let i = 0; i < now.headers.length; i += 2)
      fields.push(`${hex(now.headers[i])}=${hex(now.headers[i + 1])} `);
    lines.push(`${hex(now.method)} ${hex(now.url)} ${now.minor} ${now.keep ? 1 : 0} ` +
      fields.join("") + now.body);
    if (!ended && !now.keep) ended = "closed";
    now = null;
  };
  try {
    const done = parser.execute(text);
    if (!ended && done instanceof Error) ended = `! ${done.code}`;
  } catch (e) {
    if (!(e instanceof Stopped)) throw e;
  }
  parser.close();
  return [...lines, ended || (!now ? "more" : now.whole ? "body" : "head")].join("\n");
}

let held = Buffer.alloc(0);
process.stdin.on("data", (bytes) => {
  held = Buffer.concat([held, bytes]);
  const out = [];
  while (held.length >= 4 && held.length >= 4 + held.readUInt32LE(0)) {
    const length = held.readUInt32LE(0);
    const said = Buffer.from(answer(held.subarray(4, 4 + length)));
    const head = Buffer.alloc(4);
    head.writeUInt32LE(said.length);
    out.push(head, said);
    held = held.subarray(4 + length);
  }
  process.stdout.write(Buffer.concat(out));
});
