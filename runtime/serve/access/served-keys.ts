import type { Logger } from 'pino';
import { MillraceError } from '../../ground/api/errors.js';
import type { ApiKey } from './api-key.js';
import { KeyRing } from './key-ring.js';
import { parseKeys, readKeysBytes } from './keys-file.js';

/** A condition for /readyz that does not stop the service but should be fixed. */
export interface KeysWarning {
  readonly code: string;
  readonly detail: string;
}

/**
 * The keys of a file, as they are in service. The file is read again and again, so that a new key works and a revoked
 * key fails without a restart. Reading also works where file systems report no changes, such as mounted secrets. If the
 * file is damaged or gone, the last good keys stay in service.
 */
export class ServedKeys {
  #ring: KeyRing;
  /** The content that was read last, good or not. */
  #content: Buffer;
  #fault: MillraceError | undefined;
  /** A fault of the last read. It counts once a second read finds the same: the file may be half written. */
  #suspect: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #logger: Logger | undefined;

  private constructor(
    private readonly path: string,
    content: Buffer,
  ) {
    this.#content = content;
    this.#ring = new KeyRing(parseKeys(content));
  }

  /** @throws MillraceError keys_missing, keys_damaged: a service does not start without its keys */
  static async open(path: string): Promise<ServedKeys> {
    return new ServedKeys(path, await readKeysBytes(path));
  }

  get keys(): readonly ApiKey[] {
    return this.#ring.keys;
  }

  get isDamaged(): boolean {
    return this.#fault !== undefined;
  }

  find(text: string): ApiKey | undefined {
    return this.#ring.find(text);
  }

  byId(id: string): ApiKey | undefined {
    return this.keys.find((key) => key.id === id);
  }

  warnings(): readonly KeysWarning[] {
    const fault = this.#fault;
    if (fault === undefined) return [];
    // Everybody may read this, so it does not quote the file. The log does.
    const what = fault.code === 'keys_missing' ? 'gone' : 'damaged';
    return [
      {
        code: fault.code,
        detail: `the keys file is ${what}; the keys read before stay in service; the log says more`,
      },
    ];
  }

  /** Reads the file every `pollMs` milliseconds until `stop` is called. */
  watch(logger: Logger, pollMs: number): void {
    this.#logger = logger;
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      void this.look().finally(() => this.watch(logger, pollMs));
    }, pollMs);
    this.#timer.unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Reads the file now. Never rejects. */
  async look(): Promise<void> {
    try {
      const content = await readKeysBytes(this.path);
      if (this.#fault === undefined && content.equals(this.#content)) return;
      this.#use(parseKeys(content));
      this.#content = content;
    } catch (error) {
      this.#keep(error);
    }
  }

  #use(keys: readonly ApiKey[]): void {
    this.#ring = new KeyRing(keys);
    this.#fault = undefined;
    this.#suspect = undefined;
    this.#logger?.info({ keys: keys.length }, 'the keys were read again');
  }

  #keep(error: unknown): void {
    const fault =
      error instanceof MillraceError
        ? error
        : new MillraceError('keys_damaged', 'it cannot be used', { cause: error });
    const isNew = this.#suspect !== fault.message;
    this.#suspect = fault.message;
    if (isNew || this.#fault?.message === fault.message) return;
    this.#fault = fault;
    this.#logger?.error(
      { code: fault.code, file: this.path },
      `${describe(fault)}; the keys read before stay in service`,
    );
  }
}

function describe({ code, message }: MillraceError): string {
  return code === 'keys_missing' ? 'the keys file is gone' : `the keys file is damaged: ${message}`;
}
