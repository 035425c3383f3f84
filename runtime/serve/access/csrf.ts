import type { IncomingMessage } from 'node:http';

/** The header that requests of people need, unless they only read. A form of another page cannot send it. */
export const CSRF_HEADER = 'x-millrace-csrf';
const READS: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS'];

export const isRead = ({ method }: IncomingMessage): boolean => READS.includes(method);
