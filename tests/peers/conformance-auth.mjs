#!/usr/bin/env node
/* An MCP client on the official TypeScript SDK 2.x that logs in: what the auth/ client scenarios of the official
 * conformance suite ask for.
 *
 *     node tests/peers/conformance-auth.mjs FOLDER URL
 *
 * FOLDER, URL and the environment are those of conformance-client.mjs. Its user agrees to everything: it follows
 * the page of the authorization server until that leads back to the client. */
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [folder, url] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const need = createRequire(join(resolve(folder), "package.json"));
const sdk = need("@modelcontextprotocol/client");

const BACK = "http://localhost:3000/callback"; /* nobody listens there */
const HOPS = 8;
const LOGINS = 2; /* the second one for a wider scope, or another authorization server */
/* What 0.1.16 has a server of 2025-03-26 say of its issuer would be refused today. */
const skipIssuerMetadataValidation = scenario.startsWith("auth/2025-03-26-");
const mode = revision === "2026-07-28" ? "auto" : "legacy";
const name = "mcpreel-conformance-auth";

/* What a client keeps between its requests; clients and tokens are those of one authorization server. */
class Keeper {
    logins = 0;
    redirectUrl = BACK;
    clientMetadata = {
        client_name: name, redirect_uris: [BACK], application_type: "native",
        grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
    };

    constructor({ client, more = {} } = {}) {
        this.known = client;
        Object.assign(this, more);
    }
    clientInformation() { return this.known; }
    saveClientInformation(client) { this.known = client; }
    tokens() { return this.token; }
    saveTokens(token) { this.token = token; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    codeVerifier() { return this.verifier; }
    invalidateCredentials(what) {
        if (what === "all" || what === "client") this.known = undefined;
        if (what === "all" || what === "tokens") this.token = undefined;
    }
    state() { return "a-state"; }

    async redirectToAuthorization(page) {
        let at = page;
        for (let hop = 0; hop < HOPS; hop++) {
            const answer = await fetch(at, { redirect: "manual" });
            await answer.arrayBuffer();
            const to = answer.headers.get("location");
            if (!to)
                throw new Error(`${at.pathname} answered ${answer.status} and leads nowhere`);
            at = new URL(to, at);
            if (at.href.startsWith(BACK)) {
                if (at.searchParams.get("state") !== "a-state")
                    throw new Error("that is not the state that was sent");
                this.back = at.searchParams;
                return;
            }
        }
        throw new Error("the page never leads back");
    }
}

/* Tries again once its user has agreed. */
async function loggedIn(keeper, transport, act) {
    for (;;) {
        try {
            return await act();
        } catch (error) {
            const wanted = error instanceof sdk.UnauthorizedError || error?.cause instanceof sdk.UnauthorizedError;
            const back = keeper.back;
            keeper.back = undefined;
            if (!wanted || !back || keeper.logins++ === LOGINS)
                throw error;
            await transport().finishAuth(back);
        }
    }
}

async function session(keeper, { calls = 1 } = {}) {
    let client, transport;
    await loggedIn(keeper, () => transport, async () => {
        client = new sdk.Client({ name, version: "1.0.0" }, { capabilities: {}, versionNegotiation: { mode } });
        transport = new sdk.StreamableHTTPClientTransport(new URL(url),
                                                          { authProvider: keeper, skipIssuerMetadataValidation });
        await client.connect(transport);
    });
    await loggedIn(keeper, () => transport, () => client.listTools());
    for (let i = 0; i < calls; i++)
        await loggedIn(keeper, () => transport, () => client.callTool({ name: "test-tool", arguments: {} }));
    await client.close();
}

const registered = { client_id: context.client_id, client_secret: context.client_secret };

/* A workload shows what its platform gave it. */
const workload = () => new Keeper({ client: { client_id: context.client_id }, more: {
    redirectUrl: undefined,
    clientMetadata: { client_name: name, redirect_uris: [], token_endpoint_auth_method: "none",
                      grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"] },
    prepareTokenRequest: () => new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: context.valid_jwt }),
} });

const enterprise = () => new sdk.CrossAppAccessProvider({
    clientId: context.client_id, clientSecret: context.client_secret, clientName: name,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
        const { jwtAuthGrant } = await sdk.requestJwtAuthorizationGrant({
            tokenEndpoint: context.idp_token_endpoint, audience: authorizationServerUrl, resource: resourceUrl,
            idToken: context.idp_id_token, clientId: context.idp_client_id, scope, fetchFn });
        return jwtAuthGrant;
    },
});

const dpop = () => {
    const made = sdk.DpopSession.create();
    return new Keeper({ more: { dpop: () => made } });
};

/* Who is unlike everybody else: [what it keeps, what it does]. */
const scenarios = {
    "auth/basic-cimd": [() => new Keeper({ more: { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" } })],
    "auth/pre-registration": [() => new Keeper({ client: { ...registered, ...(context.issuer && { issuer: context.issuer }) } })],
    "auth/client-credentials-basic": [() => new sdk.ClientCredentialsProvider({
        clientId: context.client_id, clientSecret: context.client_secret })],
    "auth/client-credentials-jwt": [() => new sdk.PrivateKeyJwtProvider({
        clientId: context.client_id, privateKey: context.private_key_pem, algorithm: context.signing_algorithm })],
    "auth/enterprise-managed-authorization": [enterprise],
    "auth/cross-app-access-complete-flow": [enterprise],
    "auth/wif-jwt-bearer": [workload],
    "auth/dpop": [dpop],
    "auth/dpop-nonce": [dpop],
    "auth/authorization-server-migration": [() => new Keeper(), { calls: 2 }],
};

const [keep, how] = scenarios[scenario] ?? [() => new Keeper()];
await session(keep(), how);
