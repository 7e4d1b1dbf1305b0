// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Long } from '@grpc/proto-loader';

export interface ListFullLimitsRequest {
  'walletId'?: (string);
  'percent'?: (number);
  'after'?: (number | string | Long);
  '_after'?: "after";
}

export interface ListFullLimitsRequest__Output {
  'walletId': (string);
  'percent': (number);
  'after'?: (Long);
  '_after'?: "after";
}
