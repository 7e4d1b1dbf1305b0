// Original file: proto/google/rpc/error_details.proto

import type { Long } from '@grpc/proto-loader';

export interface _google_rpc_QuotaFailure_Violation {
  'subject'?: (string);
  'description'?: (string);
  'apiService'?: (string);
  'quotaMetric'?: (string);
  'quotaId'?: (string);
  'quotaDimensions'?: ({[key: string]: string});
  'quotaValue'?: (number | string | Long);
  'futureQuotaValue'?: (number | string | Long);
  '_futureQuotaValue'?: "futureQuotaValue";
}

export interface _google_rpc_QuotaFailure_Violation__Output {
  'subject': (string);
  'description': (string);
  'apiService': (string);
  'quotaMetric': (string);
  'quotaId': (string);
  'quotaDimensions': ({[key: string]: string});
  'quotaValue': (Long);
  'futureQuotaValue'?: (Long);
  '_futureQuotaValue'?: "futureQuotaValue";
}

export interface QuotaFailure {
  'violations'?: (_google_rpc_QuotaFailure_Violation)[];
}

export interface QuotaFailure__Output {
  'violations': (_google_rpc_QuotaFailure_Violation__Output)[];
}
