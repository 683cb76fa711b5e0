const [modules, program, address, har] = process.argv.slice(2);
const { chromium } = require(`${modules}/playwright-core`);

async function send(message, session) {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  if (session) headers["mcp-session-id"] = session;
  const response = await fetch("/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  return { session: response.headers.get("mcp-session-id"), text: await response.text() };
}

(async () => {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--no-proxy-server"] });
  const context = await browser.newContext({ recordHar: { path: har, content: "embed" } });
  const page = await context.newPage();
  await page.goto(`${address}/mcp`).catch(() => {});
  await page.addScriptTag({ content: send.toString() });
  const info = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "page", version: "1" } };
  const { session } = await page.evaluate((params) => send({ id: 1, method: "initialize", params }), info);
  await page.evaluate((s) => send({ method: "notifications/initialized" }, s), session);
  await page.evaluate((s) => send({ id: 2, method: "tools/call", params: { name: "weather", arguments: { city: "Oslo" } } }, s), session);
  await page.evaluate((s) => send({ id: 3, method: "tools/list" }, s), session);
  await context.close();
  await browser.close();
})();
