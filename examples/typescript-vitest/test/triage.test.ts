// The client, with recorded answers of the server.

import { expect, mcpTest } from 'mcpreel/vitest'
import { triage } from '../src/triage.js'

const test = mcpTest.with({ server: ['node', 'dist/server.js'] })

test('names the oldest bug', async ({ mcp }) => {
  const client = await mcp.client()
  expect(await triage(client, 'bug')).toBe(
    '2 open issues with the label bug; the oldest is #1 The clock is an hour late (bug, open)',
  )
  expect(mcp).toHaveCalledTool('get_issue', { id: 1 })
  await expect(mcp).toMatchRecording()
})

test('finds nothing', async ({ mcp }) => {
  const client = await mcp.client()
  expect(await triage(client, 'question')).toBe('no open issues with the label question')
  expect(mcp).not.toHaveCalledTool('get_*')
})
