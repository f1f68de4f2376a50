/** 0.5.64 rewrote the chart: before it keys are flat and only the controller takes variables. */
export const FLAT = '<=0.5.63';
export const NESTED = '>=0.5.64';

/** Client certificates came, went with a release cut from an older branch, and came back. */
export const MUTUAL_TLS = '0.5.76 - 0.5.77 || >=0.6.1';
