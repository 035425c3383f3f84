import { printable } from '../config/display-width.js';

/** Breaks a text at its blanks; every line is indented. '' stays ''. What a terminal would obey is replaced. */
export function wrap(text: string, indent: number, width: number): string {
  const lines: string[] = [];
  for (const word of printable(text.replace(/\s+/g, ' ')).split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && indent + line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return text === '' ? '' : lines.map((line) => `${' '.repeat(indent)}${line}\n`).join('');
}
