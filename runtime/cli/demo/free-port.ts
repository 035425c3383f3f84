import { createServer } from 'node:net';

const PORTS_TRIED = 50;

/** Finds the first free port, starting at `port`. 0 stays 0, which means any free port. */
export async function freePort(host: string, port: number): Promise<number> {
  if (port === 0) return 0;
  for (let candidate = port; candidate < Math.min(port + PORTS_TRIED, 65_536); candidate += 1)
    if (await isFree(host, candidate)) return candidate;
  return 0;
}

async function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // Only a port that is in use makes the search continue. Any other error occurs again when the service listens.
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'EADDRINUSE'));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
