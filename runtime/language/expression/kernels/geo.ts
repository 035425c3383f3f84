import type { BuildKernel } from '../operand.js';
import { rowsOf, settle } from './rows.js';

/** Mean radius of the Earth in kilometres (IUGG). */
const RADIUS = 6371.0088;
const RADIAN = Math.PI / 180;

/** Kilometres between two places in degrees. The haversine formula is exact for places that are near each other too. */
function haversine(lat1: number, lon1: number, lat2: number, lon2: number): number {
  if (!(Math.abs(lat1) <= 90 && Math.abs(lat2) <= 90 && Math.abs(lon1) <= 180 && Math.abs(lon2) <= 180))
    return NaN;
  const north = Math.sin(((lat2 - lat1) * RADIAN) / 2);
  const east = Math.sin(((lon2 - lon1) * RADIAN) / 2);
  const square = north * north + Math.cos(lat1 * RADIAN) * Math.cos(lat2 * RADIAN) * east * east;
  return 2 * RADIUS * Math.asin(Math.sqrt(Math.min(1, square)));
}

export const distance: BuildKernel = (out, args) => {
  const [a = -1, b = -1, c = -1, d = -1] = args;
  return (frame) => {
    const result = frame.number(out);
    const [lat1, lon1, lat2, lon2] = [frame.number(a), frame.number(b), frame.number(c), frame.number(d)];
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
      result.values[row] = haversine(
        lat1.values[row * lat1.stride] as number,
        lon1.values[row * lon1.stride] as number,
        lat2.values[row * lat2.stride] as number,
        lon2.values[row * lon2.stride] as number,
      );
    }
    settle(frame, result, args);
  };
};
