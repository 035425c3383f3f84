import { createServer, type RequestListener } from 'node:http';
import express from 'express';
import { floorWork } from './floor-work.js';
import { serveForBench } from './serve.js';

/** The work of the floor behind Express, like a service that a user writes, or behind node:http alone. */
const answer = await floorWork(Number(process.argv[2]));

function behindExpress(): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.post('/api/v1/items', express.raw({ type: () => true, limit: '2mb' }), (req, res) => {
    const text = answer((req.body as Buffer).toString());
    res.setHeader('Content-Type', 'application/json');
    res.setHeader('Content-Length', Buffer.byteLength(text));
    res.end(text);
  });
  return app;
}

const behindNothing: RequestListener = (req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const text = answer(Buffer.concat(chunks).toString());
    res.setHeader('Content-Type', 'application/json');
    res.setHeader('Content-Length', Buffer.byteLength(text));
    res.end(text);
  });
};

serveForBench(createServer(process.argv[3] === 'express' ? behindExpress() : behindNothing));
