import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** The process that holds the lock of a data folder. */
export interface Owner {
  readonly pid: number;
  /** Undefined if it runs on this machine (or in this container). */
  readonly host: string | undefined;
}

const PID_FILE = 'owner.pid';

/** Records this process as the owner of the folder; call it after the lock is taken. */
export async function announceOwner(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, PID_FILE), `${process.pid}\n${hostname()}\n`);
}

/** Call it before the lock is released: afterwards the file may belong to the next owner. */
export async function withdrawOwner(dataDir: string): Promise<void> {
  // A full or read-only disk must not prevent closing; a stale file does no harm.
  await rm(join(dataDir, PID_FILE), { force: true }).catch(() => undefined);
}

/**
 * The process that holds the lock; undefined if it cannot be determined. The file alone is not reliable. After a crash
 * it names a dead process, or an unrelated one that got the same number, until the new owner has written its own.
 */
export async function ownerOf(dataDir: string, lockFile: string): Promise<Owner | undefined> {
  const [pidText, host] = (await readFile(join(dataDir, PID_FILE), 'utf8').catch(() => '')).split('\n');
  const announced = /^\d{1,10}$/.test(pidText ?? '') ? Number(pidText) : undefined;
  if (announced !== undefined && host !== undefined && host !== '' && host !== hostname()) {
    return { pid: announced, host };
  }
  const holders = await lockHolders(lockFile);
  if (holders === undefined) {
    return announced !== undefined && isRunning(announced) ? { pid: announced, host: undefined } : undefined;
  }
  const pid = announced !== undefined && holders.includes(announced) ? announced : holders[0];
  return pid === undefined ? undefined : { pid, host: undefined };
}

/** Processes that hold a lock on the file, from /proc/locks of Linux; undefined on other systems. */
async function lockHolders(lockFile: string): Promise<number[] | undefined> {
  try {
    const { ino } = await stat(lockFile, { bigint: true });
    // 1: POSIX  ADVISORY  WRITE 4711 08:01:1315 0 EOF
    const lines = (await readFile('/proc/locks', 'utf8')).split('\n').map((line) => line.split(/\s+/));
    const held = lines.filter((fields) => fields[5]?.split(':')[2] === String(ino));
    // A process in another container has no process id here.
    const pids = held.map((fields) => Number(fields[4])).filter((pid) => pid > 0);
    return pids.length > 0 ? pids : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
