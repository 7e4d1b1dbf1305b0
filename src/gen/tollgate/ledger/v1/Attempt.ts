// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface Attempt {
  'upstream'?: (string);
  'status'?: (number);
  'durationMs'?: (number | string | Long);
  'key'?: (string);
  'reason'?: (string);
  'report'?: (string);
  '_key'?: "key";
  '_reason'?: "reason";
  '_report'?: "report";
}

export interface Attempt__Output {
  'upstream': (string);
  'status': (number);
  'durationMs': (Long);
  'key'?: (string);
  'reason'?: (string);
  'report'?: (string);
  '_key'?: "key";
  '_reason'?: "reason";
  '_report'?: "report";
}
