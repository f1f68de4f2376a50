import {isKnown, knownValue} from '../../../cluster/facts/fact.ts';
import type {AccessMode, StorageClass} from '../../../cluster/facts/storage.ts';
import {type Check, fail, type Outcome, pass, skip} from '../../check.ts';
import {few, ifKnown, worstOf} from '../outcomes.ts';
import {CLASSES, classOf, isClassOfChart, newClaims, withManifest} from './claims.ts';

const asks = (name: string): string => `The claim ${name} asks for`;

export const storageClass: Check = {
  id: 'storage-class',
  group: 'Storage',
  title: 'there is a storage class for every claim that the chart makes',
  ref: 'https://kubernetes.io/docs/concepts/storage/storage-classes/',
  test: (situation) =>
    withManifest(situation, (objects) => {
      const claims = newClaims(objects).filter((claim) => !isClassOfChart(claim, objects));
      if (claims.length === 0) return undefined;
      return ifKnown(situation.facts.storageClasses, CLASSES, (classes) =>
        worstOf(
          claims.map((claim): Outcome => {
            const {name} = claim.metadata;
            const wanted = claim.spec?.storageClassName;
            const found = classOf(claim, classes);
            const names = few(classes.map((each) => each.name)) || 'none';
            if (wanted === '') return skip(`${asks(name)} no class, so a volume has to be prepared for it; volumes are not looked at`);
            if (found) return pass(`${found.name} (${found.provisioner}, ${found.bindingMode}) for the claim ${name}`);
            return fail(
              wanted === undefined
                ? `${asks(name)} the default storage class, and there is none; there is ${names}`
                : `${asks(name)} the storage class ${wanted}, which is not there; there is ${names}`,
              'Name one of them with --cache-storage-class, or use --cache ephemeral',
            );
          }),
        ),
      );
    }),
};

export const accessMode: Check = {
  id: 'access-mode',
  group: 'Storage',
  title: 'the storage class can make volumes of that access mode',
  ref: 'https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes',
  test: (situation) =>
    withManifest(situation, (objects) => {
      const claims = newClaims(objects).filter(({spec}) => spec?.storageClassName !== '');
      if (claims.length === 0) return undefined;
      return ifKnown(situation.facts.storageClasses, CLASSES, (classes) =>
        // Where there is no class the check before this one says so; that of the chart fits its claim.
        worstOf(
          claims.flatMap((claim) => {
            const found = classOf(claim, classes);
            return found ? [canMake(found, claim.metadata.name, (claim.spec?.accessModes ?? []) as AccessMode[], classes)] : [];
          }),
        ),
      );
    }),
};

function canMake(
  {name, accessModes, provisioner}: StorageClass,
  claim: string,
  wanted: readonly AccessMode[],
  all: readonly StorageClass[],
): Outcome {
  if (!isKnown(accessModes)) return skip(`${asks(claim)} ${wanted.join(', ')} of the class ${name}: ${accessModes.because}`);
  const missing = wanted.filter((mode) => !accessModes.value.includes(mode));
  if (missing.length === 0) return pass(`${name} (${provisioner}) can make ${wanted.join(', ')}`);
  const able = all.filter((each) => missing.every((mode) => knownValue(each.accessModes)?.includes(mode))).map((each) => each.name);
  return fail(
    `${asks(claim)} ${missing.join(', ')}, and volumes of the class ${name} (${provisioner}) are ${accessModes.value.join(', ')}`,
    able.length > 0
      ? `Use --cache-storage-class ${able[0]}${able.length > 1 ? ` (or ${few(able.slice(1))})` : ''}`
      : 'No class that is known here can: install a driver for shared volumes, or use --cache ephemeral',
  );
}
