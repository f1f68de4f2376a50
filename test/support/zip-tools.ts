import {execa} from 'execa';
import {expect} from 'vitest';

/** Checks the archive with the zip tools that are installed on this machine. */
export async function expectOthersRead(path: string): Promise<void> {
  for (const [program, ...args] of [
    ['unzip', '-tq'],
    ['python3', '-m', 'zipfile', '-t'],
  ] as const) {
    const {code, exitCode, stdout} = await execa(program, [...args, path], {reject: false});
    if (code !== 'ENOENT')
      expect({exitCode, stdout}).toEqual({
        exitCode: 0,
        stdout: expect.stringMatching(/No errors detected|Done testing/),
      });
  }
}
