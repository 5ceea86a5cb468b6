// node verify.mjs BUNDLE PUBLIC_KEY [TSA_CERTIFICATE ROOT]: exit 0 if the npm Sigstore verifier accepts the bundle with
// this key, and its time stamp, which is then asked for, under this root.
import { readFileSync } from "node:fs";
import { createPublicKey } from "node:crypto";
import { bundleFromJSON } from "@sigstore/bundle";
import { X509Certificate } from "@sigstore/core";
import { Verifier, toSignedEntity } from "@sigstore/verify";

const [bundlePath, keyPath, ...chain] = process.argv.slice(2);
const stamps = chain.length
  ? [{
      certChain: chain.map((path) => X509Certificate.parse(readFileSync(path, "utf8"))),
      validFor: { start: new Date(0), end: new Date(8.64e15) },
    }]
  : [];
const trust = {
  certificateAuthorities: [], timestampAuthorities: stamps, tlogs: [], ctlogs: [],
  publicKey: () => ({ publicKey: createPublicKey(readFileSync(keyPath)), validFor: () => true }),
};
try {
  const bundle = bundleFromJSON(JSON.parse(readFileSync(bundlePath, "utf8")));
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: stamps.length });
  verifier.verify(toSignedEntity(bundle));
} catch (error) {
  console.error(String(error));
  process.exit(1);
}
