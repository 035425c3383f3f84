export { writeWhole } from '../core/write-whole.js';
