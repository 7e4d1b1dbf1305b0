import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { LEDGER_SERVICE } from "../service.ts";

/** The tag of `FileDescriptorSet.file`. */
const FILE_TAG = 0x0a;

/**
 * Reflection, v1 and v1alpha. It tells the descriptors as the compiler wrote them: those that the proto
 * loader makes up have other field names, and other languages cannot read them.
 */
export function createReflection(): ReflectionService {
  const set = readFileSync(join(import.meta.dir, "../../gen/ledger.binpb"));
  // Safe because reflection looks at nothing of a definition but its descriptors.
  const definition = {
    descriptors: { fileDescriptorProtos: splitFiles(set) },
  } as unknown as PackageDefinition;
  return new ReflectionService(definition, { services: [LEDGER_SERVICE] });
}

/** The files of a `FileDescriptorSet`, which has no other field. */
function splitFiles(set: Buffer): readonly Buffer[] {
  const files: Buffer[] = [];
  for (let at = 0; at < set.length; ) {
    if (set[at] !== FILE_TAG) throw new Error("src/gen/ledger.binpb is no set of descriptors");
    const { value, end } = readVarint(set, at + 1);
    files.push(set.subarray(end, end + value));
    at = end + value;
  }
  return files;
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes.readUInt8(end);
    value += (byte & 0x7f) * 2 ** shift;
    end += 1;
    if (byte < 0x80) return { value, end };
  }
}
