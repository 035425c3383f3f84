/** The base of all errors of this package. */
export class MillraceError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The service did not answer: it is not reachable, or it did not answer in time. */
export class ConnectionFailed extends MillraceError {}

/** One fault in the body of a request. */
export interface Violation {
  /** The JSON pointer of the place, e.g. `/candidates/0/product_id`. */
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/** A problem document (RFC 9457). Some codes have further members, e.g. `stored_ids`. */
export interface ProblemDocument {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly request_id?: string;
  readonly trace_id?: string;
  readonly errors?: readonly Violation[];
  readonly violation_count?: number;
  readonly [member: string]: unknown;
}

/** The service refused the request, with a problem document. */
export class Problem extends MillraceError {
  /** The stable code; docs/reference/errors.md lists all codes. `unknown` if a proxy answered. */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string | undefined;
  /** The faults of the body; the service lists at most 50. */
  readonly violations: readonly Violation[];
  readonly violationCount: number;

  constructor(
    readonly status: number,
    readonly document: ProblemDocument,
  ) {
    const { code = 'unknown', title = '', detail = '', request_id: requestId, errors = [] } = document;
    const count = document.violation_count ?? errors.length;
    const [first] = errors;
    const place = first === undefined ? '' : `; ${first.pointer}: ${first.detail}`;
    super(`${status} ${code}: ${detail}${place}${count > 1 ? ` and ${count - 1} more` : ''}`);
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.requestId = requestId;
    this.violations = errors;
    this.violationCount = count;
  }
}
