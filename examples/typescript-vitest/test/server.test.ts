// The server: it still answers as recorded, and its tools are those that were reviewed.

import { expect, mcpTest, verifyRecordings } from 'mcpreel/vitest'

const server = ['node', 'dist/server.js']

verifyRecordings('__recordings__/**/*.jsonl', { server })

mcpTest.with({ server })('keeps its contract', async ({ mcp }) => {
  await expect(mcp).toMatchToolContract({ file: 'server.lock.json' })
})
