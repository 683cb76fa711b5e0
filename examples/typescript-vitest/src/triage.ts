// A client of the server: the code that most tests are about.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'

async function textOf(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args })
  return (content as { text?: string }[]).map((item) => item.text ?? '').join('\n')
}

/** One sentence about the issues with a label. */
export async function triage(client: Client, label: string): Promise<string> {
  const found = (await textOf(client, 'search_issues', { label, limit: 5 })).split('\n').filter((line) => line.startsWith('#'))
  if (!found[0]) return `no open issues with the label ${label}`
  const oldest = await textOf(client, 'get_issue', { id: Number(/\d+/.exec(found[0])![0]) })
  return `${found.length} open issues with the label ${label}; the oldest is ${oldest}`
}
