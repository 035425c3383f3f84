const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for XML and HTML. Characters that XML 1.0 cannot hold become U+FFFD. */
export function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      .replace(/[&<>"']/g, (one) => NAMED[one] ?? one)
      // eslint-disable-next-line no-control-regex
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
  );
}
