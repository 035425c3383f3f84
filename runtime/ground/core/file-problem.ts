import { ObjectError } from './object-error.js';

/** What the operating system reports about a file, in words. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EEXIST: 'a file has this name',
  ENOTDIR: 'a part of the path is a file',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
};

/** Says in words why a file cannot be used. Other errors keep their message. */
export function fileProblem(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  // An object says more than its code.
  if (error instanceof ObjectError) return error.message;
  return WORDS[code] ?? (message || String(error));
}

/** Whether an error comes from a file and not from a fault of the program. */
export function isFileProblem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ((error as NodeJS.ErrnoException).code ?? '') in WORDS;
}
