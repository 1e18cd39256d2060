// The same as wait_v2.mjs by version 1 (the handshake era).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const where = JSON.parse(process.argv[2]);
const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
const transport = where.url !== undefined ?
  new StreamableHTTPClientTransport(new URL(where.url)) :
  new StdioClientTransport({ command: where.command, args: where.args, env: process.env });
await client.connect(transport);
await client.listTools();
const said = [];
const call = () => client.callTool({ name: 'bash', arguments: { command: process.argv[3] } }, undefined,
  { onprogress: p => { said.push(p.message); } });
let result = await call();
while (result.structuredContent?.status === 'approval_required') {
  console.log(JSON.stringify(result));
  await new Promise(line => process.stdin.once('data', line));
  result = await call();
}
console.log(JSON.stringify({ result, said }));
if (transport.terminateSession !== undefined)
  await transport.terminateSession();
await client.close();
process.exit(0);
