import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { repositoryPath } from '../support/repository.js';

const FOLDER = repositoryPath('test/editor/node_modules/yaml-language-server');

/** What the tests read of the protocol (Language Server Protocol 3.17). */
export interface Problem {
  readonly message: string;
  readonly range: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly character: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** yaml-language-server as an editor runs it: over stdio, without its public list of schemas. */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #problems = new Map<string, (problems: readonly Problem[]) => void>();
  #buffer = Buffer.alloc(0);
  #last = 0;

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  static async start(folder: string): Promise<LanguageServer> {
    const child = spawn(process.execPath, [`${FOLDER}/bin/yaml-language-server`, '--stdio'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const server = new LanguageServer(child);
    const rootUri = pathToFileURL(folder).href;
    await server.#request('initialize', {
      processId: process.pid,
      rootUri,
      workspaceFolders: [{ uri: rootUri, name: 'project' }],
      capabilities: {
        workspace: { configuration: true },
        textDocument: { hover: { contentFormat: ['markdown'] } },
      },
    });
    server.#notify('initialized', {});
    server.#notify('workspace/didChangeConfiguration', { settings: SETTINGS });
    return server;
  }

  /** Opens a text as a file, and waits for its problems. */
  async open(path: string, text: string): Promise<readonly Problem[]> {
    const uri = pathToFileURL(path).href;
    const told = new Promise<readonly Problem[]>((resolve) => this.#problems.set(uri, resolve));
    this.#notify('textDocument/didOpen', {
      textDocument: { uri, languageId: 'yaml', version: 1, text },
    });
    return told;
  }

  close(path: string): void {
    this.#notify('textDocument/didClose', { textDocument: { uri: pathToFileURL(path).href } });
  }

  /** The texts that are offered at a place. */
  async completions(path: string, position: Position): Promise<readonly string[]> {
    const answer = (await this.#request('textDocument/completion', at(path, position))) as {
      readonly items?: readonly { readonly label: string }[];
    } | null;
    return (answer?.items ?? []).map(({ label }) => label);
  }

  /** What is shown for a place; '' for nothing. */
  async hover(path: string, position: Position): Promise<string> {
    const answer = (await this.#request('textDocument/hover', at(path, position))) as {
      readonly contents?: { readonly value?: string };
    } | null;
    return answer?.contents?.value ?? '';
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, 'exit');
    await this.#request('shutdown', null);
    this.#notify('exit', null);
    await ended;
  }

  #request(method: string, params: unknown): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(`${method}: ${error.message}`)),
      );
      this.#send({ id, method, params });
    });
  }

  #notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  #send(message: Message): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#process.stdin?.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  #read(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const end = this.#buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString('latin1', 0, end))?.[1]);
      const start = end + 4;
      if (this.#buffer.length < start + length) return;
      const text = this.#buffer.toString('utf8', start, start + length);
      this.#buffer = this.#buffer.subarray(start + length);
      this.#take(JSON.parse(text) as Message);
    }
  }

  #take(message: Message): void {
    const { id, method, params } = message;
    if (method === undefined) {
      this.#waiting.get(id ?? -1)?.(message);
      this.#waiting.delete(id ?? -1);
    } else if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as {
        readonly uri: string;
        readonly diagnostics: readonly Problem[];
      };
      this.#problems.get(uri)?.(diagnostics);
    } else if (id !== undefined) {
      const { items = [] } = (params ?? {}) as { readonly items?: readonly { readonly section?: string }[] };
      const result =
        method === 'workspace/configuration'
          ? items.map(({ section }) => (section === 'yaml' ? SETTINGS.yaml : {}))
          : null;
      this.#send({ id, result });
    }
  }
}

const SETTINGS = {
  yaml: { validate: true, hover: true, completion: true, schemaStore: { enable: false } },
};

function at(path: string, position: Position): object {
  return { textDocument: { uri: pathToFileURL(path).href }, position };
}
