import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { CliContext } from '../context.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { jsonProblem } from '../../ground/core/json-problem.js';
import { InputError } from '../../project/rows/rows.js';

/** The body of a request. */
export interface SourcedRequest {
  /** Where it comes from, for messages: a file, or a file and a line. */
  readonly source: string;
  readonly body: unknown;
}

/**
 * Reads the bodies of requests from files, or from standard input for `-`. A file holds one JSON value, a JSON list of
 * bodies, or JSON lines.
 * @throws InputError
 */
export async function readRequests(
  context: CliContext,
  files: readonly string[],
): Promise<readonly SourcedRequest[]> {
  const requests: SourcedRequest[] = [];
  for (const file of files) requests.push(...parseRequests(file, await contentOf(context, file)));
  return requests;
}

async function contentOf({ stdin }: CliContext, file: string): Promise<string> {
  try {
    const content = file === '-' ? await text(stdin) : await readFile(file, 'utf8');
    return content.replace(/^\uFEFF/, '');
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new InputError(
      `cannot read ${file}: ${isAbsent ? 'the file does not exist' : fileProblem(error)}`,
      { cause: error },
    );
  }
}

function parseRequests(file: string, content: string): SourcedRequest[] {
  const lines = content.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line, at }]));
  const isLines = /\.(jsonl|ndjson)$/i.test(file) || (lines.length > 1 && isJson(lines[0]?.line ?? ''));
  if (isLines)
    return lines.map(({ line, at }) => {
      const source = `${file}:${at + 1}`;
      return { source, body: parse(line, source) };
    });
  const body = parse(content, file);
  if (!Array.isArray(body)) return [{ source: file, body }];
  return body.map((one: unknown, at) => ({ source: `${file}, item ${at + 1}`, body: one }));
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function parse(json: string, source: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw new InputError(`${source} is ${jsonProblem(error)}`, { cause: error });
  }
}
