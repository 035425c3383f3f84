import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let bytes = 0;
const server = createServer((request, answer) => {
  request.on('data', (chunk: Buffer) => (bytes += chunk.length));
  request.on('end', () => answer.writeHead(200).end());
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.on('message', () => {
  process.send?.(bytes);
  bytes = 0;
});
process.once('disconnect', () => process.exit());
