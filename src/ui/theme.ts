import {Chalk, type ChalkInstance} from 'chalk';

export const theme = (hasColor: boolean): ChalkInstance => new Chalk({level: hasColor ? 1 : 0});
