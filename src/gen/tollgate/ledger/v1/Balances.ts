// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface Balances {
  'postedNanos'?: (number | string | Long);
  'heldNanos'?: (number | string | Long);
  'availableNanos'?: (number | string | Long);
}

export interface Balances__Output {
  'postedNanos': (Long);
  'heldNanos': (Long);
  'availableNanos': (Long);
}
