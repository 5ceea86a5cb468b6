// node verify.mjs BUNDLE PUBLIC_KEY: exit 0 if the npm Sigstore verifier accepts the bundle with this key.
import { readFileSync } from "node:fs";
import { createPublicKey } from "node:crypto";
import { bundleFromJSON } from "@sigstore/bundle";
import { Verifier, toSignedEntity } from "@sigstore/verify";

const [bundlePath, keyPath] = process.argv.slice(2);
const trust = {
  certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [],
  publicKey: () => ({ publicKey: createPublicKey(readFileSync(keyPath)), validFor: () => true }),
};
try {
  const bundle = bundleFromJSON(JSON.parse(readFileSync(bundlePath, "utf8")));
  const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
  verifier.verify(toSignedEntity(bundle));
} catch (error) {
  console.error(String(error));
  process.exit(1);
}
