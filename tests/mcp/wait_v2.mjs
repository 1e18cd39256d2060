// A call that waits for a person, by the official SDK, version 2:
//   node wait_v2.mjs '{"url": ... | "command": ..., "args": [...]}' COMMAND [legacy]
// In the modern era it comes back by itself with what it was given; else it
// prints the result that says to come back, and does so at a line of input.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const where = JSON.parse(process.argv[2]);
const mode = process.argv[4] ?? 'auto';
const client = new Client({ name: 'test', version: '2' },
  { capabilities: {}, versionNegotiation: { mode } });
const transport = where.url !== undefined ?
  new StreamableHTTPClientTransport(new URL(where.url)) :
  new StdioClientTransport({ command: where.command, args: where.args, env: process.env });
await client.connect(transport);
const said = [];
const call = () => client.callTool({ name: 'bash', arguments: { command: process.argv[3] } },
  { onprogress: p => { said.push(p.message); } });
let result = await call();
while (result.structuredContent?.status === 'approval_required') {
  console.log(JSON.stringify(result));
  await new Promise(line => process.stdin.once('data', line));
  result = await call();
}
console.log(JSON.stringify({ result, said, version: client.getNegotiatedProtocolVersion?.() }));
await client.close();
process.exit(0);
