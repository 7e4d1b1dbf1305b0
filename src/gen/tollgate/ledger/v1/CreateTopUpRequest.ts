// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface CreateTopUpRequest {
  'walletId'?: (string);
  'topUpId'?: (string);
  'amountNanos'?: (number | string | Long);
}

export interface CreateTopUpRequest__Output {
  'walletId': (string);
  'topUpId': (string);
  'amountNanos': (Long);
}
