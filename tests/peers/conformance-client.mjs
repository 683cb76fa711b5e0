#!/usr/bin/env node
/* An MCP client on the official TypeScript SDK 2.x, over Streamable HTTP: what the client scenarios of the
 * official conformance suite ask for, but for authorization.
 *
 *     node tests/peers/conformance-client.mjs FOLDER URL
 *
 * FOLDER is where the group 'conformance' of tools/peers is installed. The suite appends URL, and names the
 * scenario, the revision and what else there is to know in the environment. */
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [folder, url] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const need = createRequire(join(resolve(folder), "package.json"));
const { Client, StreamableHTTPClientTransport } = need("@modelcontextprotocol/client");
const { SkillsClient } = need("@modelcontextprotocol/client/ext/skills");

const mode = revision === "2026-07-28" ? "auto" : "legacy";

async function connected({ capabilities = {}, answers = {} } = {}) {
    const client = new Client({ name: "mcpreel-conformance-client", version: "1.0.0" },
        { capabilities, versionNegotiation: { mode } });
    for (const [method, answer] of Object.entries(answers))
        client.setRequestHandler(method, () => answer);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
}

async function listTools(client) {
    const { tools } = await client.listTools();
    return tools;
}

async function callAll(client, calls) {
    for (const call of calls)
        await client.callTool(call);
}

/* Lists and uses one of everything there is. */
async function useEach(client) {
    const [tool] = await listTools(client);
    await client.callTool({ name: tool.name, arguments: {} });
    const { resources: [resource] } = await client.listResources();
    await client.readResource({ uri: resource.uri });
    const { prompts: [prompt] } = await client.listPrompts();
    await client.getPrompt({ name: prompt.name, arguments: {} });
}

/* An answer that the SDK does not take is one way to end; to ask again would be another, and wrong. */
async function callOnce(client, name) {
    try {
        await client.callTool({ name, arguments: {} });
    } catch (error) {
        console.error(`${name}: ${error.message}`);
    }
}

async function severalRounds(client) {
    await listTools(client);
    for (const name of ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated"])
        await client.callTool({ name, arguments: {} });
    await callOnce(client, "test_mrtr_no_result_type");
}

async function echoSchema(client) {
    const tools = await listTools(client);
    const { inputSchema: schema } = tools.find(({ name }) => name === "json_schema_2020_12_tool");
    await client.callTool({ name: "json_schema_echo", arguments: { schema } });
}

/* Reads what a skill consists of, and stops at the first file that is not what the list promised. */
async function readSkills(client) {
    const skills = new SkillsClient(client);
    for (const skill of (await skills.list()).skills)
        for (const { uri } of skill.resources)
            await skills.read(skill, uri);
}

const listSkills = (client) => new SkillsClient(client).list();
const accepting = (content) => ({ "elicitation/create": { action: "accept", content } });
const everything = { roots: { listChanged: true }, sampling: {}, elicitation: {} };

/* [what to do once connected, how to connect] */
const scenarios = {
    "initialize": [listTools],
    "tools_call": [async (client) => {
        await listTools(client);
        await client.callTool({ name: "add_numbers", arguments: { a: 5, b: 3 } });
    }],
    "elicitation-sep1034-client-defaults": [
        (client) => client.callTool({ name: "test_client_elicitation_defaults", arguments: {} }),
        { capabilities: { elicitation: { form: { applyDefaults: true } } }, answers: accepting({}) },
    ],
    "sse-retry": [(client) => client.callTool({ name: "test_reconnection", arguments: {} })],
    "request-metadata": [() => {}, { capabilities: everything }],
    "http-standard-headers": [useEach],
    "http-custom-headers": [async (client) => {
        await listTools(client);
        await callAll(client, context.toolCalls);
    }],
    "http-invalid-tool-headers": [async (client) => {
        await callAll(client, (await listTools(client)).map(({ name }) => ({ name, arguments: { region: "us-west1" } })));
    }],
    "sep-2322-client-request-state": [
        severalRounds, { capabilities: { elicitation: {} }, answers: accepting({ confirmed: true }) },
    ],
    "json-schema-ref-no-deref": [listTools],
    "json-schema-2020-12-preservation": [echoSchema],
    "sep-2640-client-no-prefetch": [listSkills],
    "sep-2640-client-verify-digest": [readSkills],
    "sep-2640-client-verify-size": [readSkills],
    "sep-2640-client-verify-frontmatter": [readSkills],
};

const [act, how] = scenarios[scenario];
const client = await connected(how);
try {
    await act(client);
} finally {
    await client.close();
}
