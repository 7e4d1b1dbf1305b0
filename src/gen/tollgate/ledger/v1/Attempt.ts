// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface Attempt {
  'upstream'?: (string);
  'status'?: (number);
  'durationMs'?: (number | string | Long);
  'key'?: (string);
  'reason'?: (string);
  '_key'?: "key";
  '_reason'?: "reason";
}

export interface Attempt__Output {
  'upstream': (string);
  'status': (number);
  'durationMs': (Long);
  'key'?: (string);
  'reason'?: (string);
  '_key'?: "key";
  '_reason'?: "reason";
}
