// A client by the official SDK, version 1 (the handshake era).
//   node client_v1.mjs '{"url": ... | "command": ..., "args": [...]}' '[["tool", {arguments}], ...]'
// Prints what it saw as one line of JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const where = JSON.parse(process.argv[2]);
const calls = JSON.parse(process.argv[3]);
const client = new Client({ name: 'test', version: '1' }, { capabilities: {} });
const transport = where.url !== undefined ?
  new StreamableHTTPClientTransport(new URL(where.url)) :
  new StdioClientTransport({ command: where.command, args: where.args, env: process.env });
await client.connect(transport);
const seen = { server: client.getServerVersion(), progress: 0, results: [] };
await client.ping();
seen.tools = (await client.listTools()).tools;
for (const [name, args] of calls)
  seen.results.push(await client.callTool({ name, arguments: args }, undefined,
    { onprogress: () => { seen.progress++; } }));
// A call that is given up: the server hears of it.
const giveUp = new AbortController();
const long = client.callTool({ name: 'bash', arguments: { command: 'sleep 600' } }, undefined,
  { signal: giveUp.signal }).catch(e => String(e));
setTimeout(() => giveUp.abort('enough'), 300);
seen.aborted = await long;
await new Promise(done => setTimeout(done, 200));
if (transport.terminateSession !== undefined)
  await transport.terminateSession();
await client.close();
console.log(JSON.stringify(seen));
