import {ENTITIES} from './redaction/written.ts';

/** What a file says under a name, where it says neither JSON nor `name=value`. */
export type Named = readonly [name: string, value: string];

/** `machine` or `default` begin an entry of .netrc, as ftp(1) and curl read it: words between blanks, over as many lines as one likes. */
const NETRC = /^[ \t]*(?:machine\s+\S+|default)\s/m;
const PASSWORD_OF_NETRC = /\spassword\s+("[^"\n]*"|\S+)/g;

/** `host:port:database:user:password`; a backslash stands before a colon that is part of a word. */
const LINE_OF_PGPASS = /^(?:(?:[^:\\\s]|\\.)+:)(?:\*|\d{1,5}):(?:(?:[^:\\\n]|\\.)+:){2}((?:[^:\\\r\n]|\\.)+)$/gm;

/** An element that holds nothing but a text, as `<password>` in the settings of Maven and NuGet. */
const ELEMENT = /<([\w.-]{2,64})>([^<>\n]{1,4096})<\/\1>/g;

/** What .netrc, .pgpass and files of XML hold by name. */
export const inCredentialFile = (text: string): Named[] => [...ofNetrc(text), ...ofPgpass(text), ...ofXml(text)];

const ofNetrc = (text: string): Named[] =>
  NETRC.test(text) ? [...text.matchAll(PASSWORD_OF_NETRC)].map(([, word = '']) => ['password', word.replace(/^"(.*)"$/, '$1')]) : [];

const ofPgpass = (text: string): Named[] =>
  [...text.matchAll(LINE_OF_PGPASS)].map(([, word = '']) => ['password', word.replace(/\\(.)/g, '$1')]);

const ofXml = (text: string): Named[] =>
  [...text.matchAll(ELEMENT)].map(([, name = '', value = '']) => [
    name,
    value.replace(/&(amp|lt|gt|quot|apos);/g, (_all, entity) => ENTITIES[entity] as string),
  ]);
