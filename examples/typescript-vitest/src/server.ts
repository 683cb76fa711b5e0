// An MCP server on stdio with two tools over a list of issues.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

interface Issue {
  id: number
  title: string
  label: string
  open: boolean
}

const ISSUES: Issue[] = [
  { id: 1, title: 'The clock is an hour late', label: 'bug', open: true },
  { id: 2, title: 'Show the moon, too', label: 'idea', open: true },
  { id: 3, title: 'Tides of lakes are wrong', label: 'bug', open: false },
  { id: 4, title: 'The map has no north', label: 'bug', open: true },
]

const server = new McpServer({ name: 'issues', version: '1.0.0' })

server.registerTool(
  'search_issues',
  {
    description: 'Finds the open issues with a label, the oldest first.',
    inputSchema: { label: z.string(), limit: z.number().int().positive().default(10) },
    annotations: { readOnlyHint: true },
  },
  ({ label, limit }) => {
    const found = ISSUES.filter((issue) => issue.open && issue.label === label)
    const lines = found.slice(0, limit).map((issue) => `#${issue.id} ${issue.title}`)
    return { content: [{ type: 'text', text: lines.join('\n') || 'no issues' }] }
  },
)

server.registerTool(
  'get_issue',
  {
    description: 'Returns one issue.',
    inputSchema: { id: z.number().int() },
    annotations: { readOnlyHint: true },
  },
  ({ id }) => {
    const issue = ISSUES.find((one) => one.id === id)
    if (!issue) return { isError: true, content: [{ type: 'text', text: `there is no issue #${id}` }] }
    return { content: [{ type: 'text', text: `#${issue.id} ${issue.title} (${issue.label}, ${issue.open ? 'open' : 'closed'})` }] }
  },
)

await server.connect(new StdioServerTransport())
