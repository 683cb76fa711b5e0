#!/usr/bin/env node
/* An MCP server that is its own authorization server, both on the official TypeScript SDK 1.x: its metadata, its
 * endpoints, its challenges.
 *
 *     node tests/peers/login-server.mjs FOLDER [URL]
 *
 * FOLDER is where the group 'conformance' of tools/peers is installed. Listens on a free port of the loopback
 * interface, says the URL in one line on stdout, and serves until its stdin ends. Users agree at once. A code and a
 * token are given for this server and for nothing else; whatever else is asked for is an invalid target.
 *
 * With URL it calls itself that, because somebody stands in front of it; its last redirect does not name it then. */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const need = createRequire(join(resolve(process.argv[2]), "package.json"));
const express = need("express");
const { McpServer } = need("@modelcontextprotocol/sdk/server/mcp.js");
const { StreamableHTTPServerTransport } = need("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { mcpAuthRouter, getOAuthProtectedResourceMetadataUrl } = need("@modelcontextprotocol/sdk/server/auth/router.js");
const { requireBearerAuth } = need("@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js");
const { InvalidGrantError, InvalidTargetError, InvalidTokenError } = need("@modelcontextprotocol/sdk/server/auth/errors.js");

const app = express();
const listener = app.listen(0, "127.0.0.1", () => {
    const here = `http://127.0.0.1:${listener.address().port}/mcp`;
    serve(new URL(process.argv[3] ?? here));
    console.log(here);
});
process.stdin.on("end", () => {
    listener.closeAllConnections();
    listener.close();
}).resume();

/* Clients, codes and tokens, and what each was given for. */
function keeper(resource) {
    const clients = new Map(), codes = new Map(), tokens = new Map();
    const only = (wanted) => {
        if (wanted?.href !== resource.href)
            throw new InvalidTargetError(`a token is for ${resource}, not for ${wanted}`);
    };
    return {
        clientsStore: {
            getClient: (id) => clients.get(id),
            registerClient: (client) => {
                clients.set(client.client_id, client);
                return client;
            },
        },
        async authorize(client, { redirectUri, state, codeChallenge, resource: wanted }, answer) {
            only(wanted);
            const code = `code-${randomUUID()}`, back = new URL(redirectUri);
            codes.set(code, { client, codeChallenge });
            back.searchParams.set("code", code);
            if (state)
                back.searchParams.set("state", state);
            if (!process.argv[3])
                back.searchParams.set("iss", new URL("/", resource).href);
            answer.redirect(back.href);
        },
        async challengeForAuthorizationCode(client, code) {
            if (codes.get(code)?.client !== client)
                throw new InvalidGrantError("that is not a code of this client's");
            return codes.get(code).codeChallenge;
        },
        async exchangeAuthorizationCode(client, code, verifier, redirectUri, wanted) {
            only(wanted);
            codes.delete(code);
            const token = `token-${randomUUID()}`;
            tokens.set(token, { token, clientId: client.client_id, scopes: [], expiresAt: Date.now() / 1000 + 3600 });
            return { access_token: token, token_type: "bearer", expires_in: 3600 };
        },
        async exchangeRefreshToken() {
            throw new InvalidGrantError("there are none");
        },
        async verifyAccessToken(token) {
            if (!tokens.has(token))
                throw new InvalidTokenError("nobody was given that");
            return tokens.get(token);
        },
    };
}

function serve(resource) {
    const provider = keeper(resource);
    app.use(mcpAuthRouter({ provider, issuerUrl: new URL("/", resource), resourceServerUrl: resource }));
    app.use("/mcp", requireBearerAuth({ verifier: provider, resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource) }));
    app.post("/mcp", express.json(), async (request, answer) => {
        const server = new McpServer({ name: "login-server", version: "1.0.0" });
        server.registerTool("test-tool", { description: "Says whose token it was" }, ({ authInfo }) => (
            { content: [{ type: "text", text: authInfo.clientId ? "let in" : "let in by mistake" }] }));
        const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
        answer.on("close", () => transport.close());
        await server.connect(transport);
        await transport.handleRequest(request, answer, request.body);
    });
    app.use("/mcp", (request, answer) => answer.status(405).set("Allow", "POST").end());
}
