import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {generate} from 'selfsigned';

/** Paths of a PEM file and its key. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface Certificates {
  ca: Certificate;
  /** Verifies service account tokens, which are signed with the CA key. */
  tokens: string;
  /** For servers on 127.0.0.1. */
  server: Certificate;
  /** Client certificate of an administrator. */
  admin: Certificate;
  controllerManager: Certificate;
  scheduler: Certificate;
  /** Client certificate of the API server for kubelets. */
  kubeletClient: Certificate;
}

const COMMON = {keyType: 'ec', algorithm: 'sha256'} as const;
const LOCAL = [{type: 7, ip: '127.0.0.1'} as const, {type: 2, value: 'localhost'} as const];

/** Certificate authority of one cluster, and the certificates of its components. Name and group determine the permissions. */
export async function issueCertificates(directory: string): Promise<Certificates> {
  const save = async (
    file: string,
    made: {cert: string; private: string},
  ): Promise<Certificate> => {
    const paths = {cert: join(directory, `${file}.crt`), key: join(directory, `${file}.key`)};
    await Promise.all([
      writeFile(paths.cert, made.cert),
      writeFile(paths.key, made.private, {mode: 0o600}),
    ]);
    return paths;
  };
  const root = await generate([{name: 'commonName', value: 'test-cluster'}], {
    ...COMMON,
    extensions: [
      {name: 'basicConstraints', cA: true, critical: true},
      {name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true},
    ],
  });
  const issue = async (file: string, commonName: string, group?: string): Promise<Certificate> => {
    const subject = [
      {name: 'commonName', value: commonName},
      ...(group ? [{name: 'organizationName', value: group}] : []),
    ];
    const usage = {name: 'extKeyUsage', clientAuth: true, serverAuth: true} as const;
    const extensions = [usage, {name: 'subjectAltName', altNames: LOCAL} as const];
    return save(
      file,
      await generate(subject, {...COMMON, ca: {key: root.private, cert: root.cert}, extensions}),
    );
  };
  const tokens = join(directory, 'tokens.pub');
  await writeFile(tokens, root.public);
  return {
    tokens,
    ca: await save('ca', root),
    server: await issue('server', 'localhost'),
    admin: await issue('admin', 'admin', 'system:masters'),
    controllerManager: await issue('controller-manager', 'system:kube-controller-manager'),
    scheduler: await issue('scheduler', 'system:kube-scheduler'),
    kubeletClient: await issue('kubelet-client', 'kube-apiserver', 'system:masters'),
  };
}
